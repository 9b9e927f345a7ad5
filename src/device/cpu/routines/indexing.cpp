#include "device/cpu/routines/indexing.h"

namespace ingot::cpu {
namespace {

// The axes from `first` on.
View inner_axes(const View& view, size_t first) {
  View inner = {.dtype = view.dtype, .rank = view.rank - static_cast<int>(first), .data = view.data};
  std::copy(view.sizes.begin() + static_cast<ptrdiff_t>(first), view.sizes.end(), inner.sizes.begin());
  std::copy(view.strides.begin() + static_cast<ptrdiff_t>(first), view.strides.end(), inner.strides.begin());
  return inner;
}

}  // namespace

TupleWalk::TupleWalk(const RoutineCall& call, const View& whole, const View& indices, const View& parts,
                     int batch_axes)
    : whole_(whole),
      indices_(call, indices),
      rank_(indices.rank - 1),
      sizes_(indices.sizes),
      strides_{Strides{}, parts.strides, indices.strides},
      length_(indices.sizes[static_cast<size_t>(indices.rank - 1)]),
      step_(indices.strides[static_cast<size_t>(indices.rank - 1)]),
      batch_axes_(static_cast<size_t>(batch_axes)) {
  for (size_t i = 0; i < batch_axes_; ++i) {
    if (whole.sizes[i] != indices.sizes[i])
      refuse(call, fmt::format("{} equal leading sizes", batch_axes),
             fmt::format("{} and {}", whole.sizes[i], indices.sizes[i]));
    strides_[0][i] = whole.strides[i];
  }
  for (size_t i = 0; i < static_cast<size_t>(rank_); ++i) tuples *= sizes_[i];
  whole_block = inner_axes(whole, batch_axes_ + static_cast<size_t>(length_));
  part_block = inner_axes(parts, static_cast<size_t>(rank_));
}

int64_t TupleWalk::whole_offset(const StridedWalk<3>& walk) const {
  int64_t offset = walk.at[0];
  for (int64_t k = 0; k < length_; ++k) {
    const size_t axis = batch_axes_ + static_cast<size_t>(k);
    offset += indices_.at(walk.at[2] + k * step_, whole_.sizes[axis]) * whole_.strides[axis];
  }
  return offset;
}

ElementWalk::ElementWalk(const RoutineCall& call, const View& whole, const View& indices, const View& parts,
                         int64_t axis)
    : indices(call, indices, whole.sizes[static_cast<size_t>(normal_axis(axis, whole.rank))]),
      rank_(indices.rank - 1),
      sizes_(indices.sizes),
      strides_{whole.strides, parts.strides, indices.strides} {
  const auto at = static_cast<size_t>(normal_axis(axis, whole.rank)), last = static_cast<size_t>(rank_);
  for (size_t i = 0; i <= last; ++i)
    if (i != at && indices.sizes[i] > whole.sizes[i])
      refuse(call, fmt::format("indices of at most {} positions along axis {}", whole.sizes[i], i),
             fmt::format("{}", indices.sizes[i]));
  axis_stride = std::exchange(strides_[0][at], 0);
  length = indices.sizes[last];
  whole_step = strides_[0][last], part_step = strides_[1][last], index_step = strides_[2][last];
  for (size_t i = 0; i < last; ++i) rows *= sizes_[i];
}

}  // namespace ingot::cpu
