#pragma once

#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/row_plan.h"

namespace ingot::cpu {

// Elements of x beside those of the result and the scale and zero point that apply to them: one of the
// tensor, one per slice along an axis, or one per block of slices.
struct ScaledOperands {
  View x, out, scale, zero;  // zero may be absent
  int64_t axis, block;

  // Calls f(plan of x, out, scale, zero point; their first elements in the same order, as views) once or,
  // where the last block is shorter, twice.
  template <class F>
  void each_part(F f) const {
    const auto along = static_cast<size_t>(normal_axis(axis, std::max(x.rank, 1)));
    if (block == 0 || x.sizes[along] == 0)
      return f(plan(x.sizes, per_slice(scale, along), per_slice(zero, along)), *this);
    const int64_t whole = x.sizes[along] / block * block, rest = x.sizes[along] - whole;
    if (whole > 0) slices(along, 0, whole, block).each_block(along, f);
    if (rest > 0) slices(along, whole, rest, rest).each_block(along, f);
  }

 private:
  RowPlan<4> plan(const Strides& sizes, const Strides& scales, const Strides& zeros) const {
    return {x.rank, sizes, {x.strides, out.strides, scales, zeros}};
  }

  static Strides per_slice(const View& numbers, size_t along) {
    Strides strides = {};
    if (!is_absent(numbers) && numbers.count() > 1) strides[along] = numbers.strides[0];
    return strides;
  }

  // The part of `length` slices from `begin` on, whose blocks have `size` slices.
  ScaledOperands slices(size_t along, int64_t begin, int64_t length, int64_t size) const {
    const int64_t first = begin / block, count = length / size;
    auto blocks = [&](const View& v) {
      return is_absent(v) || v.rank == 0 ? v : part(v, along, first, count);
    };
    return {part(x, along, begin, length),
            part(out, along, begin, length),
            blocks(scale),
            blocks(zero),
            axis,
            size};
  }

  // Blocks become an axis of their own, of which scales take one step while the others take `block`.
  template <class F>
  void each_block(size_t along, F f) const {
    auto split = [&](const Strides& from, int64_t outer, int64_t inner) {
      Strides to = from;
      std::copy_backward(from.begin() + static_cast<ptrdiff_t>(along), from.end() - 1, to.end());
      to[along] = outer, to[along + 1] = inner;
      return to;
    };
    auto repeated = [&](const View& v) {
      return is_absent(v) || v.rank < x.rank ? Strides{} : split(v.strides, v.strides[along], 0);
    };
    f(RowPlan<4>(x.rank + 1, split(x.sizes, x.sizes[along] / block, block),
                 {split(x.strides, x.strides[along] * block, x.strides[along]),
                  split(out.strides, out.strides[along] * block, out.strides[along]), repeated(scale),
                  repeated(zero)}),
      *this);
  }
};

}  // namespace ingot::cpu
