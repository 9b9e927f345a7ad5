#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/shape_values.h"

namespace ingot::reference {
namespace {

void shape_of(KernelContext& c) {
  const auto& a = c.attrs<ShapeOfAttrs>();
  const Shape& shape = c.in(0).shape();
  auto [start, end] = axis_range(a, static_cast<int64_t>(shape.size()));
  std::copy(shape.begin() + start, shape.begin() + end, c.out(0).mutable_data<int64_t>().begin());
}

void reshape(KernelContext& c) {
  Shape shape;
  for (const Dim& d : *c.out_type(0).dims) shape.push_back(d.constant());
  c.set(0, c.in(0).reshaped(std::move(shape)));
}

void broadcast_to(KernelContext& c) {
  const Tensor& x = c.in(0);
  const Shape& shape = c.out(0).shape();
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    OutCells<T> out(c.out(0));
    walk<1>(shape, {broadcast_strides(x.shape(), shape)},
            [&](int64_t i, const auto& at) { out[i] = in[at[0]]; });
  });
}

void transpose(KernelContext& c) {
  const Tensor& x = c.in(0);
  auto rank = static_cast<size_t>(x.rank());
  auto permutation = c.attrs<TransposeAttrs>().permutation;
  if (permutation.empty())
    for (size_t i = rank; i-- > 0;) permutation.push_back(static_cast<int64_t>(i));
  Shape own = row_major_strides(x.shape()), strides;
  for (int64_t axis : permutation)
    strides.push_back(own[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)]);
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    OutCells<T> out(c.out(0));
    walk<1>(c.out(0).shape(), {strides}, [&](int64_t i, const auto& at) { out[i] = in[at[0]]; });
  });
}

// Copies, for each position before the axis, one run of consecutive cells per operand.
void concat(KernelContext& c) {
  Tensor& result = c.out(0);
  int64_t axis = c.attrs<ConcatAttrs>().axis;
  if (axis < 0) axis += result.rank();
  auto run = [axis](const Shape& s) { return element_count(Shape(s.begin() + axis, s.end())); };
  int64_t rows = element_count(Shape(result.shape().begin(), result.shape().begin() + axis));
  with_cell(result.dtype(), [&](auto zero) {
    using T = decltype(zero);
    OutCells<T> out(result);
    int64_t offset = 0, step = run(result.shape());
    for (size_t k = 0; k < c.operand_count(); ++k) {
      Cells<T> in(c.in(k));
      int64_t length = run(c.in(k).shape());
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < length; ++i) out[r * step + offset + i] = in[r * length + i];
      offset += length;
    }
  });
}

}  // namespace

void add_movement_kernels(KernelTable& t) {
  t[Op::ShapeOf] = shape_of;
  t[Op::Reshape] = reshape;
  t[Op::Squeeze] = reshape;
  t[Op::Unsqueeze] = reshape;
  t[Op::BroadcastTo] = broadcast_to;
  t[Op::Transpose] = transpose;
  t[Op::Concat] = concat;
}

}  // namespace ingot::reference
