#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/arithmetic.h"

namespace ingot::reference {
namespace {

// An index counted from the end when negative.
int64_t checked_index(const KernelContext& c, int64_t index, int64_t size) {
  if (index < -size || index >= size)
    c.fail(fmt::format("indices in [{}, {}]", -size, size - 1), fmt::format("{}", index));
  return index < 0 ? index + size : index;
}

void gather(KernelContext& c) {
  const Tensor& x = c.in(0);
  AxisView view(x.shape(), normal_axis(c.attrs<GatherAttrs>().axis, x.rank()));
  auto indices = c.ints(1);
  for (int64_t& i : indices) i = checked_index(c, i, view.length);
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    OutCells<T> out(c.out(0));
    int64_t to = 0;
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t k : indices)
        for (int64_t i = 0; i < view.inner; ++i) out[to++] = in[(o * view.length + k) * view.inner + i];
  });
}

// For each element of an index tensor, where in x it points along `axis`, with its own position along the
// others.
std::vector<int64_t> element_offsets(const KernelContext& c, const Tensor& x, const Tensor& indices,
                                     int64_t axis) {
  auto at_axis = static_cast<size_t>(normal_axis(axis, x.rank()));
  for (size_t i = 0; i < x.shape().size(); ++i)
    if (i != at_axis && indices.shape()[i] > x.shape()[i])
      c.fail(fmt::format("indices of a shape within {}", to_string(x.shape())), to_string(indices.shape()));
  Shape strides = row_major_strides(x.shape());
  int64_t step = std::exchange(strides[at_axis], 0);
  std::vector<int64_t> offsets = load<int64_t>(indices);
  walk<1>(indices.shape(), {strides}, [&](int64_t i, const auto& at) {
    int64_t& offset = offsets[static_cast<size_t>(i)];
    offset = at[0] + checked_index(c, offset, x.shape()[at_axis]) * step;
  });
  return offsets;
}

void gather_elements(KernelContext& c) {
  auto offsets = element_offsets(c, c.in(0), c.in(1), c.attrs<GatherElementsAttrs>().axis);
  with_cell(c.in(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(c.in(0));
    OutCells<T> out(c.out(0));
    for (size_t i = 0; i < offsets.size(); ++i) out[static_cast<int64_t>(i)] = in[offsets[i]];
  });
}

// For each index tuple (the last axis of `indices`), where the block it names starts in x.
std::vector<int64_t> block_offsets(const KernelContext& c, const Tensor& x, const Tensor& indices,
                                   size_t batch_axes) {
  auto numbers = load<int64_t>(indices);
  auto length = static_cast<size_t>(indices.shape().back());
  int64_t rows = element_count(Shape(indices.shape().begin(), indices.shape().end() - 1));
  int64_t batches =
      element_count(Shape(x.shape().begin(), x.shape().begin() + static_cast<ptrdiff_t>(batch_axes)));
  Shape strides = row_major_strides(x.shape());
  int64_t batch_size = batch_axes == 0 ? 0 : strides[batch_axes - 1];
  std::vector<int64_t> offsets;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t offset = r / std::max<int64_t>(rows / batches, 1) * batch_size;
    for (size_t k = 0; k < length; ++k)
      offset += strides[batch_axes + k] *
                checked_index(c, numbers[static_cast<size_t>(r) * length + k], x.shape()[batch_axes + k]);
    offsets.push_back(offset);
  }
  return offsets;
}

int64_t block_size(const Tensor& x, int64_t axes) {
  return element_count(Shape(x.shape().begin() + axes, x.shape().end()));
}

void gather_nd(KernelContext& c) {
  const Tensor &x = c.in(0), &indices = c.in(1);
  int64_t batch_axes = c.attrs<GatherNdAttrs>().batch_axes;
  if (!std::equal(x.shape().begin(), x.shape().begin() + batch_axes, indices.shape().begin()))
    c.fail(fmt::format("{} equal leading sizes", batch_axes),
           to_string(x.shape()) + " and " + to_string(indices.shape()));
  Tensor& result = c.out(0);
  if (result.count() == 0) return;
  auto offsets = block_offsets(c, x, indices, static_cast<size_t>(batch_axes));
  int64_t size = block_size(x, batch_axes + indices.shape().back());
  with_cell(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Cells<T> in(x);
    OutCells<T> out(result);
    int64_t to = 0;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < size; ++i) out[to++] = in[offset + i];
  });
}

template <class W>
W reduce(Reduction reduction, W a, W b) {
  switch (reduction) {
    case Reduction::add: return wrapping(a, b, std::plus<>());
    case Reduction::mul: return wrapping(a, b, std::multiplies<>());
    case Reduction::min: return smaller(a, b);
    case Reduction::max: return larger(a, b);
    case Reduction::none: break;
  }
  return b;
}

// x with block k of `updates` written to, or combined with, what lies at offsets[k].
void scatter(KernelContext& c, const std::vector<int64_t>& offsets, int64_t size, Reduction reduction) {
  const Tensor &x = c.in(0), &updates = c.in(2);
  auto blocks = [&](auto f) {
    for (size_t k = 0; k < offsets.size(); ++k)
      for (int64_t i = 0; i < size; ++i) f(offsets[k] + i, static_cast<int64_t>(k) * size + i);
  };
  if (reduction == Reduction::none)
    return with_cell(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Cells<T> in(x), from(updates);
      OutCells<T> out(c.out(0));
      for (int64_t i = 0; i < x.count(); ++i) out[i] = in[i];
      blocks([&](int64_t to, int64_t i) { out[to] = from[i]; });
    });
  if (x.is_string()) c.fail("numbers to combine", "strings");
  with_wide(x.dtype(), [&](auto zero) {
    using W = decltype(zero);
    auto out = load<W>(x), from = load<W>(updates);
    blocks([&](int64_t to, int64_t i) {
      W& e = out[static_cast<size_t>(to)];
      e = reduce(reduction, e, from[static_cast<size_t>(i)]);
    });
    store(c.out(0), out);
  });
}

void require_updates(const KernelContext& c, const Shape& shape) {
  if (c.in(2).shape() != shape) c.fail("updates of shape " + to_string(shape), to_string(c.in(2).shape()));
}

void scatter_elements(KernelContext& c) {
  const auto& a = c.attrs<ScatterElementsAttrs>();
  require_updates(c, c.in(1).shape());
  scatter(c, element_offsets(c, c.in(0), c.in(1), a.axis), 1, a.reduction);
}

void scatter_nd(KernelContext& c) {
  const Tensor &x = c.in(0), &indices = c.in(1);
  int64_t length = indices.shape().back();
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin() + length, x.shape().end());
  require_updates(c, shape);
  scatter(c, block_offsets(c, x, indices, 0), block_size(x, length), c.attrs<ScatterNdAttrs>().reduction);
}

}  // namespace

void add_indexing_kernels(KernelTable& t) {
  t[Op::Gather] = gather;
  t[Op::GatherElements] = gather_elements;
  t[Op::GatherNd] = gather_nd;
  t[Op::ScatterElements] = scatter_elements;
  t[Op::ScatterNd] = scatter_nd;
}

}  // namespace ingot::reference
