#include "ir/shape_values_movement.h"

namespace ingot {
namespace {

using Values = std::vector<Dim>;
using Known = std::optional<Values>;

// The values of operand i if all are plain numbers.
std::optional<std::vector<int64_t>> numbers(const std::vector<Known>& in, size_t i) {
  return i < in.size() ? ingot::numbers(in[i]) : std::nullopt;
}

std::optional<int64_t> size_of_vector(const Type& type) {
  return type.dims->empty() ? 1 : (*type.dims)[0].value();
}

// One value for all, or the same few over and over.
Known repeated(const Known& values, const Type& out) {
  auto n = size_of_vector(out);
  if (!values || values->empty() || !n || *n > 64 || *n % static_cast<int64_t>(values->size()) != 0)
    return std::nullopt;
  Values result;
  for (int64_t i = 0; i < *n; ++i) result.push_back((*values)[static_cast<size_t>(i) % values->size()]);
  return result;
}

Known gather(const std::vector<Known>& in) {
  auto indices = numbers(in, 1);
  if (!in[0] || !indices) return std::nullopt;
  auto n = static_cast<int64_t>(in[0]->size());
  Values out;
  for (int64_t i : *indices) {
    if (i < -n || i >= n) return std::nullopt;
    out.push_back((*in[0])[static_cast<size_t>(i < 0 ? i + n : i)]);
  }
  return out;
}

// The one axis there is, taken apart.
Known slice(const std::vector<Known>& in, const Type& out) {
  auto starts = numbers(in, 1), steps = numbers(in, 4);
  bool has_steps = in.size() > 4;
  auto count = size_of_vector(out);
  if (!in[0] || !starts || starts->size() != 1 || !count || (has_steps && !steps)) return std::nullopt;
  int64_t step = has_steps ? steps->at(0) : 1, start = starts->at(0);
  auto n = static_cast<int64_t>(in[0]->size());
  if (start < 0) start = std::max<int64_t>(start + n, 0);
  if (step < 0) start = std::min(start, n - 1);
  Values result;
  for (int64_t i = 0, at = start; i < *count; ++i) {
    if (at < 0 || at >= n) return std::nullopt;
    result.push_back((*in[0])[static_cast<size_t>(at)]);
    if (i + 1 < *count) at += step;
  }
  return result;
}

Known range(const std::vector<Known>& in, const Type& out) {
  auto count = size_of_vector(out);
  if (!in[0] || !in[2] || !count || *count > 64) return std::nullopt;
  Values result;
  for (int64_t i = 0; i < *count; ++i) result.push_back(in[0]->at(0) + Dim(i) * in[2]->at(0));
  return result;
}

template <class A, class F>
Known fold(const Node& node, const std::vector<Known>& in, const Type& x, Known empty, F f) {
  const Known& values = in[0];
  auto axes = in.size() > 1 ? numbers(in, 1) : std::vector<int64_t>();
  if (!values || !axes || x.dims->empty()) return std::nullopt;
  if (axes->empty() && node.as<A>().keep_if_no_axes) return values;
  if (values->empty()) return empty;
  Dim result = values->at(0);
  for (size_t i = 1; i < values->size(); ++i) result = f(result, (*values)[i]);
  return Values{result};
}

}  // namespace

Known moved_shape_values(const Node& node, const std::vector<Type>& types, const std::vector<Known>& in) {
  const Type& out = node.types[0];
  if (types.empty() || !types[0].is_ranked() || types[0].dims->size() > 1) return std::nullopt;
  switch (node.op) {
    case Op::Squeeze:
    case Op::Unsqueeze: return in[0];
    case Op::BroadcastTo:
    case Op::Tile: return repeated(in[0], out);
    case Op::Gather: return gather(in);
    case Op::Slice: return slice(in, out);
    case Op::Range: return range(in, out);
    case Op::ReduceSum:
      return fold<ReduceSumAttrs>(node, in, types[0], Values{0},
                                  [](const Dim& a, const Dim& b) { return a + b; });
    case Op::ReduceProd:
      return fold<ReduceProdAttrs>(node, in, types[0], Values{1},
                                   [](const Dim& a, const Dim& b) { return a * b; });
    case Op::ReduceMax:
      return fold<ReduceMaxAttrs>(node, in, types[0], {},
                                  [](const Dim& a, const Dim& b) { return max(a, b); });
    case Op::ReduceMin:
      return fold<ReduceMinAttrs>(node, in, types[0], {},
                                  [](const Dim& a, const Dim& b) { return min(a, b); });
    default: return std::nullopt;
  }
}

}  // namespace ingot
