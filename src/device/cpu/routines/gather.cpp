#include "device/cpu/routines/indexing.h"
#include "device/cpu/routines/move.h"
#include "device/cpu/routines/table.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kChunkBytes = 16 << 10;

// Rows of `bytes` each that make a chunk.
int64_t grain_of(int64_t bytes) { return std::max<int64_t>(kChunkBytes / std::max<int64_t>(bytes, 1), 1); }

// One gather, with the axes before the one that is gathered along and those of the indices but the last as
// rows.
struct GatherRows {
  GatherRows(const RoutineCall& call, const View& x, const View& indices, const View& out, size_t axis)
      : indices(call, indices, x.sizes[axis]), axis_stride(x.strides[axis]) {
    const auto index_rank = static_cast<size_t>(indices.rank), inner = axis + index_rank;
    strides[1] = out.strides;
    for (size_t i = 0; i < axis; ++i) sizes[i] = x.sizes[i], strides[0][i] = x.strides[i];
    for (size_t i = 0; i < index_rank; ++i)
      sizes[axis + i] = indices.sizes[i], strides[2][axis + i] = indices.strides[i];
    rank = static_cast<int>(inner);
    if (index_rank > 0) {
      --rank;
      length = sizes[inner - 1], out_step = strides[1][inner - 1], index_step = strides[2][inner - 1];
    }
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) rows *= sizes[i];
    View from = {.dtype = x.dtype, .rank = x.rank - static_cast<int>(axis) - 1}, to = from;
    for (size_t i = 0; i < static_cast<size_t>(from.rank); ++i) {
      from.sizes[i] = to.sizes[i] = x.sizes[axis + 1 + i];
      from.strides[i] = x.strides[axis + 1 + i];
      to.strides[i] = out.strides[inner + i];
    }
    block_size = from.count();
    block = plan_copy(from, to);
  }

  template <class T>
  void run(const T* x, T* out, int64_t begin, int64_t end) const {
    StridedWalk<3> walk(rank, sizes, strides, begin);
    for (int64_t row = begin; row < end; ++row, walk.next()) {
      const T* from = x + walk.at[0];
      T* to = out + walk.at[1];
      for (int64_t j = 0; j < length; ++j) {
        const T* picked = from + indices.at(walk.at[2] + j * index_step) * axis_stride;
        if (block_size == 1)
          to[j * out_step] = *picked;
        else
          move_planned(block, picked, to + j * out_step);
      }
    }
  }

  Indices indices;
  int64_t axis_stride;
  int rank;
  Strides sizes = {};
  std::array<Strides, 3> strides = {};  // of x, the output, the indices
  int64_t rows = 1;
  int64_t length = 1, out_step = 0, index_step = 0;  // along the last axis of the indices
  int64_t block_size;
  CopyPlan block;
};

void gather(const RoutineCall& call) {
  const View &x = call.in[0], &out = call.out[0];
  const GatherRows rows(call, x, call.in[1], out,
                        static_cast<size_t>(normal_axis(call.node.as<GatherAttrs>().axis, x.rank)));
  if (rows.rows * rows.length == 0) return;
  with_cell(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t bytes = rows.length * rows.block_size * int64_t{sizeof(T)};
    call.pool.parallel_for(rows.rows, grain_of(bytes), [&](int64_t begin, int64_t end, int) {
      rows.run(elements<const T>(x), elements<T>(out), begin, end);
    });
  });
}

void gather_elements(const RoutineCall& call) {
  const View &x = call.in[0], &out = call.out[0];
  const ElementWalk e(call, x, call.in[1], out, call.node.as<GatherElementsAttrs>().axis);
  with_cell(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    call.pool.parallel_for(e.rows, grain_of(e.length * 8), [&](int64_t begin, int64_t end, int) {
      StridedWalk<3> walk = e.start(begin);
      for (int64_t row = begin; row < end; ++row, walk.next()) {
        const T* from = elements<const T>(x) + walk.at[0];
        T* to = elements<T>(out) + walk.at[1];
        for (int64_t j = 0; j < e.length; ++j)
          to[j * e.part_step] =
              from[j * e.whole_step + e.indices.at(walk.at[2] + j * e.index_step) * e.axis_stride];
      }
    });
  });
}

void gather_nd(const RoutineCall& call) {
  const View &x = call.in[0], &out = call.out[0];
  const TupleWalk t(call, x, call.in[1], out, static_cast<int>(call.node.as<GatherNdAttrs>().batch_axes));
  if (out.count() == 0) return;
  const CopyPlan block = plan_copy(t.whole_block, t.part_block);
  with_cell(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t bytes = t.part_block.count() * int64_t{sizeof(T)};
    call.pool.parallel_for(t.tuples, grain_of(bytes), [&](int64_t begin, int64_t end, int) {
      StridedWalk<3> walk = t.start(begin);
      for (int64_t i = begin; i < end; ++i, walk.next())
        move_planned(block, elements<const T>(x) + t.whole_offset(walk),
                     elements<T>(out) + t.part_offset(walk));
    });
  });
}

// A scalar or list of elements has no axes that tuples of indices could lack.
bool elements_along_an_axis(const RoutineCall& call) { return moves_cells(call) && call.in[0].rank > 0; }
bool tuples(const RoutineCall& call) { return moves_cells(call) && call.in[1].rank > 0; }

}  // namespace

void add_gather_routines(RoutineTable& t) {
  t[Op::Gather] = {.supports = elements_along_an_axis, .run = gather};
  t[Op::GatherElements] = {.supports = elements_along_an_axis, .run = gather_elements};
  t[Op::GatherNd] = {.supports = tuples, .run = gather_nd};
}

}  // namespace ingot::cpu
