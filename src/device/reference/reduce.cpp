#include <limits>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/arithmetic.h"

namespace ingot::reference {
namespace {

// The strides that fold x into its result: 0 along the axes that go.
Shape fold_strides(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape folded = shape;
  for (int64_t a : axes) folded[static_cast<size_t>(normal_axis(a, static_cast<int64_t>(shape.size())))] = 1;
  return broadcast_strides(folded, shape);
}

std::vector<int64_t> reduced_axes(const KernelContext& c, bool keep_if_no_axes) {
  auto axes = c.ints(1);
  if (axes.empty() && !keep_if_no_axes)
    for (int64_t i = 0; i < c.in(0).rank(); ++i) axes.push_back(i);
  return axes;
}

// Folds x with f, starting from `empty`.
template <class W, class F>
std::vector<W> fold(const KernelContext& c, const std::vector<int64_t>& axes, int64_t count, W empty, F f) {
  const Tensor& x = c.in(0);
  auto in = load<W>(x);
  std::vector<W> out(static_cast<size_t>(count), empty);
  walk<1>(x.shape(), {fold_strides(x.shape(), axes)}, [&](int64_t i, const auto& at) {
    W& e = out[static_cast<size_t>(at[0])];
    e = f(e, in[static_cast<size_t>(i)]);
  });
  return out;
}

template <class A, class F>
void reduce(KernelContext& c, F make) {
  auto axes = reduced_axes(c, c.attrs<A>().keep_if_no_axes);
  with_wide(c.in(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    auto [empty, f] = make(zero);
    store(c.out(0), fold<W>(c, axes, c.out(0).count(), empty, f));
  });
}

void reduce_sum(KernelContext& c) {
  reduce<ReduceSumAttrs>(c, [](auto zero) {
    using W = decltype(zero);
    return std::pair(W{0}, [](W a, W b) { return wrapping(a, b, std::plus<>()); });
  });
}

void reduce_prod(KernelContext& c) {
  reduce<ReduceProdAttrs>(c, [](auto zero) {
    using W = decltype(zero);
    return std::pair(W{1}, [](W a, W b) { return wrapping(a, b, std::multiplies<>()); });
  });
}

void reduce_max(KernelContext& c) {
  DType dtype = c.in(0).dtype();
  reduce<ReduceMaxAttrs>(c, [dtype](auto zero) {
    using W = decltype(zero);
    return std::pair(extremes<W>(dtype).lowest, [](W a, W b) { return larger(a, b); });
  });
}

void reduce_min(KernelContext& c) {
  DType dtype = c.in(0).dtype();
  reduce<ReduceMinAttrs>(c, [dtype](auto zero) {
    using W = decltype(zero);
    return std::pair(extremes<W>(dtype).highest, [](W a, W b) { return smaller(a, b); });
  });
}

// The mean of nothing is NaN, or 0 in integers, whose means truncate.
void reduce_mean(KernelContext& c) {
  auto axes = reduced_axes(c, c.attrs<ReduceMeanAttrs>().keep_if_no_axes);
  int64_t folded = 1;
  for (int64_t a : axes) folded *= c.in(0).shape()[static_cast<size_t>(normal_axis(a, c.in(0).rank()))];
  with_wide(c.in(0).dtype(), [&](auto zero) {
    using W = decltype(zero);
    auto sums =
        fold<W>(c, axes, c.out(0).count(), W{0}, [](W a, W b) { return wrapping(a, b, std::plus<>()); });
    for (W& s : sums)
      if (std::is_same_v<W, double> || folded != 0) s /= static_cast<W>(folded);
    store(c.out(0), sums);
  });
}

// Whether b comes before a in the order looked for. NaN comes before everything, as in NumPy.
template <class W>
bool beats(W a, W b, bool want_max, bool last) {
  if constexpr (std::is_same_v<W, double>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && (last || !std::isnan(a));
  if (a == b) return last;
  return (a < b) == want_max;
}

void arg_reduce(KernelContext& c, int64_t axis, bool want_max, bool last) {
  const Tensor& x = c.in(0);
  AxisView view(x.shape(), normal_axis(axis, x.rank()));
  with_wide(x.dtype(), [&](auto zero) {
    auto in = load<decltype(zero)>(x);
    auto out = c.out(0).mutable_data<int64_t>();
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        auto at = [&](int64_t k) { return in[static_cast<size_t>((o * view.length + k) * view.inner + i)]; };
        int64_t best = 0;
        for (int64_t k = 1; k < view.length; ++k)
          if (beats(at(best), at(k), want_max, last)) best = k;
        out[static_cast<size_t>(o * view.inner + i)] = best;
      }
  });
}

}  // namespace

void add_reduce_kernels(KernelTable& t) {
  t[Op::ReduceSum] = reduce_sum;
  t[Op::ReduceMean] = reduce_mean;
  t[Op::ReduceProd] = reduce_prod;
  t[Op::ReduceMax] = reduce_max;
  t[Op::ReduceMin] = reduce_min;
  t[Op::ArgMax] = [](KernelContext& c) {
    const auto& a = c.attrs<ArgMaxAttrs>();
    arg_reduce(c, a.axis, true, a.last);
  };
  t[Op::ArgMin] = [](KernelContext& c) {
    const auto& a = c.attrs<ArgMinAttrs>();
    arg_reduce(c, a.axis, false, a.last);
  };
}

}  // namespace ingot::reference
