#include "passes/recognise_softmax.h"

#include "passes/match.h"

namespace ingot {
namespace {

struct Row {
  Value x;
  int64_t axis;
};

// v = x - (largest x along one axis).
std::optional<Row> below_largest(const Match& m, Value v) {
  auto parts = m.binary(v, Op::Sub);
  auto largest = parts ? m.reduction(parts->b, Op::ReduceMax) : std::nullopt;
  if (!largest || largest->x != parts->a || largest->axes.size() != 1) return std::nullopt;
  return Row{parts->a, largest->axes[0]};
}

// v is the sum of `terms` along the axis.
bool is_sum(const Match& m, Value v, Value terms, int64_t axis) {
  auto sum = m.reduction(v, Op::ReduceSum);
  return sum && sum->x == terms && sum->axes == std::vector<int64_t>{axis};
}

std::optional<Value> softmax(Rewriter& r, const Match& m, Value result) {
  for (auto [e, sum] : m.quotients(result)) {
    if (!m.is(e, Op::Exp)) continue;
    auto row = below_largest(m, m.operand(e));
    if (row && is_sum(m, sum, e, row->axis) && m.is_private(result, std::span(&row->x, 1)))
      return r.g().softmax(r.mapped(row->x), {.axis = row->axis});
  }
  return std::nullopt;
}

std::optional<Value> log_softmax(Rewriter& r, const Match& m, Value result) {
  auto parts = m.binary(result, Op::Sub);
  auto row = parts ? below_largest(m, parts->a) : std::nullopt;
  if (!row || !m.is(parts->b, Op::Log)) return std::nullopt;
  auto sum = m.reduction(m.operand(parts->b), Op::ReduceSum);
  bool fits = sum && m.is(sum->x, Op::Exp) && m.operand(sum->x) == parts->a &&
              sum->axes == std::vector<int64_t>{row->axis};
  if (!fits || !m.is_private(result, std::span(&row->x, 1))) return std::nullopt;
  return r.g().log_softmax(r.mapped(row->x), {.axis = row->axis});
}

}  // namespace

Graph recognise_softmax(const Graph& graph) {
  constexpr Recogniser all[] = {softmax, log_softmax};
  return recognise(graph, all);
}

}  // namespace ingot
