#include "device/cpu/copy.h"
#include "device/cpu/routines/indexing.h"
#include "device/cpu/routines/move.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/table.h"
#include "ir/arithmetic.h"

// Blocks that name the same place follow one another in their order, so they are written by one thread.
namespace ingot::cpu {
namespace {

// The output starts as x; where it lies in the same memory it already is.
View start_from(const RoutineCall& call) {
  const View &x = call.in[0], &out = call.out[0];
  if (x.data != out.data || x.strides != out.strides) copy(x, out, call.pool);
  return out;
}

template <class T>
T combine(Reduction reduction, T to, T from) {
  const Wide<T> a = to, b = from;
  switch (reduction) {
    case Reduction::add: return static_cast<T>(wrapping(a, b, std::plus<>()));
    case Reduction::mul: return static_cast<T>(wrapping(a, b, std::multiplies<>()));
    case Reduction::min: return static_cast<T>(smaller(a, b));
    case Reduction::max: return static_cast<T>(larger(a, b));
    case Reduction::none: break;
  }
  return from;
}

template <class T>
void scatter_run(const ElementWalk& e, const View& out, const View& updates, Reduction reduction) {
  StridedWalk<3> walk = e.start(0);
  for (int64_t row = 0; row < e.rows; ++row, walk.next()) {
    T* to = elements<T>(out) + walk.at[0];
    const T* from = elements<const T>(updates) + walk.at[1];
    for (int64_t j = 0; j < e.length; ++j) {
      T& at = to[j * e.whole_step + e.indices.at(walk.at[2] + j * e.index_step) * e.axis_stride];
      at = combine(reduction, at, from[j * e.part_step]);
    }
  }
}

void scatter_elements(const RoutineCall& call) {
  const auto& a = call.node.as<ScatterElementsAttrs>();
  const View &indices = call.in[1], &updates = call.in[2];
  if (indices.sizes != updates.sizes) refuse(call, "updates of the shape of the indices", "another shape");
  const ElementWalk e(call, call.out[0], indices, updates, a.axis);
  const View out = start_from(call);
  if (a.reduction == Reduction::none)
    with_cell(out.dtype, [&](auto zero) { scatter_run<decltype(zero)>(e, out, updates, a.reduction); });
  else
    with_number(out.dtype, [&](auto zero) { scatter_run<decltype(zero)>(e, out, updates, a.reduction); });
}

// One block, element by element.
template <class T>
void combine_block(const CopyPlan& plan, const T* from, T* to, Reduction reduction) {
  const CopyPlan::Axis last = plan.last();
  StridedWalk<2> walk = walk_rows(plan, 0);
  for (int64_t rows = plan.rows(); rows > 0; --rows, walk.next())
    for (int64_t j = 0; j < last.size; ++j) {
      T& at = to[walk.at[1] + j * last.to];
      at = combine(reduction, at, from[walk.at[0] + j * last.from]);
    }
}

// As plan_copy gives it, without the blocks of a transposition.
CopyPlan plan_in_rows(const View& from, const View& to) {
  CopyPlan plan = plan_copy(from, to);
  plan.transposes = false;
  return plan;
}

void scatter_nd(const RoutineCall& call) {
  const Reduction reduction = call.node.as<ScatterNdAttrs>().reduction;
  const View &x = call.in[0], &indices = call.in[1], &updates = call.in[2];
  const int rows_rank = indices.rank - 1;
  const auto length = static_cast<int>(indices.sizes[static_cast<size_t>(rows_rank)]);
  bool fits = updates.rank == rows_rank + x.rank - length;
  for (int i = 0; fits && i < updates.rank; ++i)
    fits = updates.sizes[static_cast<size_t>(i)] ==
           (i < rows_rank ? indices.sizes[static_cast<size_t>(i)]
                          : x.sizes[static_cast<size_t>(i - rows_rank + length)]);
  if (!fits) refuse(call, "updates of the shape that the indices ask for", "another shape");
  const View out = start_from(call);
  const TupleWalk t(call, out, indices, updates, 0);
  const CopyPlan block = plan_copy(t.part_block, t.whole_block),
                 rows = plan_in_rows(t.part_block, t.whole_block);
  if (block.empty) return;
  StridedWalk<3> walk = t.start(0);
  auto each = [&](auto zero, auto f) {
    using T = decltype(zero);
    for (int64_t i = 0; i < t.tuples; ++i, walk.next())
      f(elements<const T>(updates) + t.part_offset(walk), elements<T>(out) + t.whole_offset(walk));
  };
  if (reduction == Reduction::none)
    with_cell(out.dtype, [&](auto zero) {
      each(zero, [&](const auto* from, auto* to) { move_planned(block, from, to); });
    });
  else
    with_number(out.dtype, [&](auto zero) {
      each(zero, [&](const auto* from, auto* to) { combine_block(rows, from, to, reduction); });
    });
}

template <class A>
bool supports(const RoutineCall& call) {
  return moves_cells(call) && call.in[0].rank > 0 && call.in[1].rank > 0 &&
         (call.node.as<A>().reduction == Reduction::none || is_number(call.in[0].dtype));
}

}  // namespace

void add_scatter_routines(RoutineTable& t) {
  t[Op::ScatterElements] = {
      .supports = supports<ScatterElementsAttrs>, .run = scatter_elements, .changes_copy = true};
  t[Op::ScatterNd] = {.supports = supports<ScatterNdAttrs>, .run = scatter_nd, .changes_copy = true};
}

}  // namespace ingot::cpu
