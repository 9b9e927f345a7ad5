#include "ir/rule_helpers.h"
#include "ir/rules.h"

namespace ingot::rules {
namespace {

Dims part(const Dims& dims, int64_t from, int64_t to) { return {dims.begin() + from, dims.begin() + to}; }

void append(Dims& dims, const Dims& more) { dims.insert(dims.end(), more.begin(), more.end()); }

// How many leading axes of x one index of the last axis of `indices` names; empty where not known.
std::optional<int64_t> index_length(const Inference& c, int64_t batch_axes) {
  const Dims& indices = c.dims(1);
  if (indices.empty()) c.fail(1, "rank of at least 1", "a scalar");
  if (batch_axes < 0 || batch_axes >= c.rank(1) || batch_axes > c.rank(0))
    c.fail(-1, fmt::format("batch_axes in [0, {}]", std::min(c.rank(0), c.rank(1) - 1)),
           fmt::format("{}", batch_axes));
  auto length = indices.back().value();
  if (length && *length > c.rank(0) - batch_axes)
    c.fail(1, fmt::format("indices of at most {} numbers", c.rank(0) - batch_axes),
           fmt::format("{}", *length));
  return length;
}

}  // namespace

void gather_type(Inference& c) {
  if (!c.is_ranked(0) || !c.is_ranked(1)) return c.set(0, Type::unranked(c.dtype(0)));
  const Dims& in = c.dims(0);
  int64_t axis = c.axis(c.attrs<GatherAttrs>().axis, c.rank(0));
  Dims out = part(in, 0, axis);
  append(out, c.dims(1));
  append(out, part(in, axis + 1, c.rank(0)));
  c.set(0, c.dtype(0), std::move(out));
}

void gather_elements_type(Inference& c) {
  if (c.is_ranked(0)) c.axis(c.attrs<GatherElementsAttrs>().axis, c.rank(0));
  if (!c.is_ranked(1)) return c.set(0, Type::unranked(c.dtype(0)));
  if (c.is_ranked(0)) require_rank(c, 1, c.rank(0));
  c.set(0, c.dtype(0), c.dims(1));
}

void gather_nd_type(Inference& c) {
  if (!c.is_ranked(0) || !c.is_ranked(1)) return c.set(0, Type::unranked(c.dtype(0)));
  int64_t batch_axes = c.attrs<GatherNdAttrs>().batch_axes;
  auto length = index_length(c, batch_axes);
  if (!length) return c.set(0, Type::unranked(c.dtype(0)));
  Dims out = part(c.dims(1), 0, c.rank(1) - 1);
  append(out, part(c.dims(0), batch_axes + *length, c.rank(0)));
  c.set(0, c.dtype(0), std::move(out));
}

void scatter_elements_type(Inference& c) {
  const auto& a = c.attrs<ScatterElementsAttrs>();
  c.require_same_dtype(0, 2);
  if (c.is_ranked(0)) {
    c.axis(a.axis, c.rank(0));
    require_rank(c, 1, c.rank(0));
    require_rank(c, 2, c.rank(0));
  }
  c.set(0, c.type(0));
}

void scatter_nd_type(Inference& c) {
  c.require_same_dtype(0, 2);
  if (c.is_ranked(0) && c.is_ranked(1)) {
    auto length = index_length(c, 0);
    if (length) require_rank(c, 2, c.rank(1) - 1 + c.rank(0) - *length);
  }
  c.set(0, c.type(0));
}

}  // namespace ingot::rules
