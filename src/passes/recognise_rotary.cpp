#include "passes/recognise_rotary.h"

#include "ir/op_info.h"
#include "ir/small_constants.h"
#include "passes/match.h"

namespace ingot {
namespace {

using Found = std::optional<Value>;

struct Interval {
  int64_t start, end;
};

// v = x[.., start : end] with step 1 along the last axis alone.
std::optional<Interval> last_axis_slice(const Match& m, Value v, Value x) {
  if (!m.is(v, Op::Slice) || m.operand(v) != x || !m.is_ranked(x)) return std::nullopt;
  const Node& n = m.node(v);
  auto start = m.integers(n.operands[1]), end = m.integers(n.operands[2]);
  auto axes = n.operands.size() > 3 ? m.integers(n.operands[3]) : std::nullopt;
  auto steps = n.operands.size() > 4 ? m.integers(n.operands[4]) : std::vector<int64_t>{1};
  auto size = m.dims(x).back().value();
  if (!start || !end || !axes || !size || axes->size() != 1 || steps != std::vector<int64_t>{1})
    return std::nullopt;
  if ((*axes)[0] != -1 && (*axes)[0] != m.rank(x) - 1) return std::nullopt;
  auto place = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + *size : i, 0, *size); };
  return Interval{place(start->at(0)), place(end->at(0))};
}

bool is_half(const Match& m, Value v, Value x, bool second) {
  if (!m.is_ranked(x)) return false;
  auto size = m.dims(x).back().value();
  if (!size || *size % 2 != 0) return false;
  int64_t start = second ? *size / 2 : 0;
  if (v.output == (second ? 1 : 0) && m.node(v).op == Op::Split && m.operand({v.node, 0}) == x) {
    int64_t axis = m.node(v).as<SplitAttrs>().axis;
    bool last = axis == -1 || axis == m.rank(x) - 1;
    return last && m.node(v).types.size() == 2 && m.dims(v).back() == Dim(*size / 2);
  }
  auto part = last_axis_slice(m, v, x);
  return part && part->start == start && part->end == start + *size / 2;
}

bool is_last_axis(int64_t axis, const Match& m, Value v) { return axis == -1 || axis == m.rank(v) - 1; }

// v = concat(-x2, x1).
bool is_rotated(const Match& m, Value v, Value x) {
  if (!m.is(v, Op::Concat) || !m.is_ranked(v)) return false;
  const Node& n = m.node(v);
  if (n.operands.size() != 2 || !is_last_axis(n.as<ConcatAttrs>().axis, m, v)) return false;
  return m.is(n.operands[0], Op::Neg) && is_half(m, m.operand(n.operands[0]), x, true) &&
         is_half(m, n.operands[1], x, false);
}

// The first half of a constant along its last axis, if the second equals it.
std::optional<Tensor> equal_halves(const Tensor& whole) {
  if (whole.rank() == 0 || whole.shape().back() % 2 != 0 || is_sub_byte(whole.dtype())) return std::nullopt;
  Shape shape = whole.shape();
  shape.back() /= 2;
  Tensor out = Tensor::allocate(whole.dtype(), shape);
  size_t half = byte_size(whole.dtype(), shape.back());
  size_t rows = half == 0 ? 0 : out.bytes().size() / half;
  for (size_t i = 0; i < rows; ++i) {
    auto first = whole.bytes().subspan(2 * i * half, half),
         second = whole.bytes().subspan((2 * i + 1) * half, half);
    if (!std::ranges::equal(first, second)) return std::nullopt;
    std::ranges::copy(first, out.mutable_bytes().subspan(i * half).begin());
  }
  return out;
}

// A table of angles without the second half of its last axis, which must equal the first.
class HalfTable {
 public:
  HalfTable(Rewriter& r, const Match& m) : r_(r), m_(m) {}

  Found of(Value v, int depth = 0) const {
    constexpr int kDeepest = 8;
    const Node& n = m_.node(v);
    if (depth > kDeepest || !m_.is_ranked(v)) return std::nullopt;
    switch (n.op) {
      case Op::Constant: {
        auto half = equal_halves(n.as<ConstantAttrs>().value.aligned());
        return half ? Found(r_.g().constant(*half)) : std::nullopt;
      }
      case Op::Concat:
        if (n.operands.size() != 2 || n.operands[0] != n.operands[1]) return std::nullopt;
        return is_last_axis(n.as<ConcatAttrs>().axis, m_, v) ? Found(r_.mapped(n.operands[0])) : std::nullopt;
      case Op::Cos:
      case Op::Sin:
      case Op::Cast: return again(n, depth);
      case Op::Mul: return m_.scalar(n.operands[1]) ? again(n, depth) : std::nullopt;
      case Op::Unsqueeze: return keeps_last_axis(v) ? again(n, depth) : std::nullopt;
      case Op::Gather:
        return n.as<GatherAttrs>().axis == 0 && m_.rank(n.operands[0]) > 1 ? again(n, depth) : std::nullopt;
      default: return std::nullopt;
    }
  }

 private:
  // The same node on half the table.
  Found again(const Node& n, int depth) const {
    auto half = of(n.operands[0], depth + 1);
    if (!half) return std::nullopt;
    std::vector<Value> operands = {*half};
    for (size_t i = 1; i < n.operands.size(); ++i) operands.push_back(r_.mapped(n.operands[i]));
    return r_.g().add(n.attrs, operands)[0];
  }

  bool keeps_last_axis(Value v) const {
    auto axes = m_.integers(m_.operand(v, 1));
    return axes && std::ranges::none_of(*axes, [&](int64_t a) { return is_last_axis(a, m_, v); });
  }

  Rewriter& r_;
  const Match& m_;
};

// [batch, tokens, size / 2] from a table that stretches over x, one angle for all heads.
Found angles(Rewriter& r, const Match& m, Value table, Value x) {
  if (!m.is_ranked(table) || m.rank(table) < 2 || m.rank(table) > 4) return std::nullopt;
  const Dims &t = m.dims(table), &d = m.dims(x);
  int64_t rank = m.rank(table);
  auto from_end = [&](const Dims& dims, size_t i) { return dims[dims.size() - i]; };
  if (from_end(t, 1) != from_end(d, 1) || from_end(t, 2) != from_end(d, 2)) return std::nullopt;
  if (rank > 2 && from_end(t, 3) != Dim(1)) return std::nullopt;
  if (rank > 3 && from_end(t, 4) != Dim(1) && from_end(t, 4) != d[0]) return std::nullopt;
  auto half = HalfTable(r, m).of(table);
  if (!half || r.g().dtype(*half) != m.dtype(x)) return std::nullopt;
  if (rank == 2) return r.g().unsqueeze(*half, int_list(r.g(), {0}));
  return rank == 3 ? half : Found(r.g().squeeze(*half, int_list(r.g(), {1})));
}

Found rotary(Rewriter& r, const Match& m, Value result) {
  auto sum = m.binary(result, Op::Add);
  auto first = sum ? m.binary(sum->a, Op::Mul) : std::nullopt;
  auto second = sum ? m.binary(sum->b, Op::Mul) : std::nullopt;
  if (!first || !second) return std::nullopt;
  for (auto [straight, turned] : {std::pair{*first, *second}, {*second, *first}})
    for (auto [x, cosine] : {straight, Match::Pair{straight.b, straight.a}})
      for (auto [rotated, sine] : {turned, Match::Pair{turned.b, turned.a}}) {
        if (!m.is_ranked(x) || m.rank(x) != 4 || !is_rotated(m, rotated, x)) continue;
        const Value leaves[] = {x, cosine, sine};
        if (m.dims(x) != m.dims(result) || !m.is_private(result, leaves)) continue;
        auto c = angles(r, m, cosine, x), s = angles(r, m, sine, x);
        if (c && s) return r.g().rotary_embedding(r.mapped(x), *c, *s, {});
      }
  return std::nullopt;
}

}  // namespace

Graph recognise_rotary(const Graph& graph) {
  constexpr Recogniser all[] = {rotary};
  return recognise(graph, all);
}

}  // namespace ingot
