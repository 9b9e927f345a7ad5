#pragma once

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/walk.h"

namespace ingot::cpu {

// An index operand: i32 or i64, counted from the end of an axis of `size` positions when negative.
class Indices {
 public:
  Indices(const RoutineCall& call, const View& view, int64_t size = 0)
      : call_(call), data_(view.data), wide_(view.dtype == DType::i64), size_(size) {}

  int64_t at(int64_t offset) const { return at(offset, size_); }
  int64_t at(int64_t offset, int64_t size) const {
    const int64_t index = wide_ ? reinterpret_cast<const int64_t*>(data_)[offset]
                                : reinterpret_cast<const int32_t*>(data_)[offset];
    if (index < -size || index >= size) refuse_index(index, size);
    return index < 0 ? index + size : index;
  }

 private:
  [[noreturn]] void refuse_index(int64_t index, int64_t size) const {
    refuse(call_, fmt::format("indices in [{}, {}]", -size, size - 1), fmt::format("{}", index));
  }

  const RoutineCall& call_;
  const std::byte* data_;
  bool wide_;
  int64_t size_;
};

// Where the blocks named by index tuples (the last axis of the indices) lie: one position per tuple.
struct TupleWalk {
  // `whole` is indexed by the tuples and, along its first `batch_axes`, by the position of the tuple; `parts`
  // has one block per tuple.
  TupleWalk(const RoutineCall& call, const View& whole, const View& indices, const View& parts,
            int batch_axes);

  int64_t tuples = 1;
  StridedWalk<3> start(int64_t tuple) const { return {rank_, sizes_, strides_, tuple}; }
  // In elements from the start of `whole`, `parts`.
  int64_t whole_offset(const StridedWalk<3>& walk) const;
  int64_t part_offset(const StridedWalk<3>& walk) const { return walk.at[1]; }
  View whole_block, part_block;  // sizes and strides of one block on either side

 private:
  View whole_;
  Indices indices_;
  int rank_;
  Strides sizes_;
  std::array<Strides, 3> strides_ = {};
  int64_t length_, step_;
  size_t batch_axes_;
};

// Visits the elements of an index tensor along `axis` of `whole`: calls row(whole offset, parts offset,
// indices offset) for each run along the last axis.
struct ElementWalk {
  ElementWalk(const RoutineCall& call, const View& whole, const View& indices, const View& parts,
              int64_t axis);

  int64_t rows = 1, length = 1;
  StridedWalk<3> start(int64_t row) const { return {rank_, sizes_, strides_, row}; }
  Indices indices;
  int64_t axis_stride;                        // in `whole`, for one step of an index
  int64_t whole_step, part_step, index_step;  // along a run

 private:
  int rank_;
  Strides sizes_;
  std::array<Strides, 3> strides_ = {};
};

}  // namespace ingot::cpu
