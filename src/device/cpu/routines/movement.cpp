#include "device/cpu/copy.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/table.h"

// Ops that are copies between views.
namespace ingot::cpu {
namespace {

// Elements keep their row-major order; one of the two sides is dense, so that it can take the shape of the
// other.
void reshape(const RoutineCall& call) {
  View from = call.in[0], to = call.out[0];
  const View other = to.is_dense() ? from : to;
  View& dense = to.is_dense() ? to : from;
  if (!dense.is_dense()) refuse(call, "a dense operand or result", "gaps in both");
  int64_t step = 1;
  for (auto i = static_cast<size_t>(other.rank); i-- > 0;) {
    dense.strides[i] = step;
    step *= other.sizes[i];
  }
  dense.rank = other.rank;
  dense.sizes = other.sizes;
  copy(from, to, call.pool);
}

void broadcast_to(const RoutineCall& call) {
  const View &x = call.in[0], &to = call.out[0];
  View from = to;
  from.data = x.data;
  from.strides.fill(0);
  const int added = to.rank - x.rank;
  for (int i = 0; i < x.rank; ++i)
    if (const auto axis = static_cast<size_t>(i); x.sizes[axis] != 1)
      from.strides[static_cast<size_t>(i + added)] = x.strides[axis];
  copy(from, to, call.pool);
}

void transpose(const RoutineCall& call) {
  const View& x = call.in[0];
  const auto& permutation = call.node.as<TransposeAttrs>().permutation;
  View from = x;
  for (int i = 0; i < x.rank; ++i) {
    const auto to = static_cast<size_t>(i);
    const int64_t axis = permutation.empty() ? x.rank - 1 - i : normal_axis(permutation[to], x.rank);
    from.sizes[to] = x.sizes[static_cast<size_t>(axis)];
    from.strides[to] = x.strides[static_cast<size_t>(axis)];
  }
  copy(from, call.out[0], call.pool);
}

void concat(const RoutineCall& call) {
  const View& to = call.out[0];
  const auto axis = static_cast<size_t>(normal_axis(call.node.as<ConcatAttrs>().axis, to.rank));
  int64_t begin = 0;
  for (const View& from : call.in) {
    copy(from, part(to, axis, begin, from.sizes[axis]), call.pool);
    begin += from.sizes[axis];
  }
}

void split(const RoutineCall& call) {
  const View& from = call.in[0];
  const auto axis = static_cast<size_t>(normal_axis(call.node.as<SplitAttrs>().axis, from.rank));
  int64_t begin = 0;
  for (const View& to : call.out) {
    if (is_absent(to)) refuse(call, "memory for every part", "none for one");
    copy(part(from, axis, begin, to.sizes[axis]), to, call.pool);
    begin += to.sizes[axis];
  }
}

void slice(const RoutineCall& call) {
  const View &starts = call.in[1], &to = call.out[0];
  View from = call.in[0];
  for (int64_t k = 0; k < starts.count(); ++k) {
    const auto axis =
        static_cast<size_t>(has(call, 3) ? normal_axis(integer_at(call.in[3], k), from.rank) : k);
    const int64_t size = call.in[0].sizes[axis], step = has(call, 4) ? integer_at(call.in[4], k) : 1;
    int64_t start = integer_at(starts, k);
    if (start < 0) start = std::max<int64_t>(start + size, 0);
    start = std::min(start, step > 0 ? size : size - 1);
    if (to.count() == 0) return;
    // A step beyond the axis is never taken, and its product with a stride might overflow.
    from = part(from, axis, start, to.sizes[axis], to.sizes[axis] > 1 ? step : 1);
  }
  copy(from, to, call.pool);
}

bool reads_cells(const RoutineCall& call) { return moves_cells(call) && !is_absent(call.out[0]); }

}  // namespace

void add_movement_routines(RoutineTable& t) {
  for (Op op : {Op::Reshape, Op::Squeeze, Op::Unsqueeze}) t[op] = {.supports = reads_cells, .run = reshape};
  t[Op::BroadcastTo] = {.supports = reads_cells, .run = broadcast_to};
  t[Op::Transpose] = {.supports = reads_cells, .run = transpose};
  t[Op::Concat] = {.supports = reads_cells, .run = concat};
  t[Op::Split] = {.supports = moves_cells, .run = split};
  t[Op::Slice] = {.supports = reads_cells, .run = slice};
}

}  // namespace ingot::cpu
