#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"
#include "ir/arithmetic.h"

namespace ingot::reference {
namespace {

// Running folds along one axis. An exclusive one leaves each element itself out.
template <class W, class F>
std::vector<W> scan(const std::vector<W>& in, const AxisView& view, W empty, bool exclusive, bool reverse,
                    F f) {
  std::vector<W> out(in.size());
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.inner; ++i) {
      W sum = empty;
      for (int64_t k = 0; k < view.length; ++k) {
        int64_t at = (o * view.length + (reverse ? view.length - 1 - k : k)) * view.inner + i;
        W next = f(sum, in[static_cast<size_t>(at)]);
        out[static_cast<size_t>(at)] = exclusive ? sum : next;
        sum = next;
      }
    }
  return out;
}

template <class A, class F>
void cumulative(KernelContext& c, int empty, F f) {
  const auto& a = c.attrs<A>();
  const Tensor& x = c.in(0);
  auto axis = c.ints(1);
  if (axis.size() != 1 || axis[0] < -x.rank() || axis[0] >= x.rank())
    c.fail(fmt::format("one axis in [{}, {}]", -x.rank(), x.rank() - 1),
           fmt::format("[{}]", fmt::join(axis, ", ")));
  AxisView view(x.shape(), normal_axis(axis[0], x.rank()));
  with_wide(x.dtype(), [&](auto zero) {
    using W = decltype(zero);
    store(c.out(0), scan(load<W>(x), view, static_cast<W>(empty), a.exclusive, a.reverse,
                         [&](W p, W q) { return wrapping(p, q, f); }));
  });
}

}  // namespace

void add_scan_kernels(KernelTable& t) {
  t[Op::CumSum] = [](KernelContext& c) { cumulative<CumSumAttrs>(c, 0, std::plus<>()); };
  t[Op::CumProd] = [](KernelContext& c) { cumulative<CumProdAttrs>(c, 1, std::multiplies<>()); };
}

}  // namespace ingot::reference
