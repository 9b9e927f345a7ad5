#include "device/reference/contraction.h"

#include <type_traits>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/walk.h"

namespace ingot::reference {
namespace {

constexpr int64_t kDepth = 128;  // rows of b that stay in the first-level cache
constexpr int64_t kWidth = 256;  // columns of b and c

// Signed products are formed as unsigned ones, so that overflow wraps.
template <class W>
using Wrapping = std::conditional_t<std::is_same_v<W, int64_t>, uint64_t, W>;

template <class W>
void multiply_add_block(const W* a, const W* b, W* c, int64_t m, int64_t n, int64_t k, int64_t width,
                        int64_t depth) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < depth; ++p) {
      auto x = static_cast<Wrapping<W>>(a[i * k + p]);
      const W* row = b + p * n;
      W* out = c + i * n;
      for (int64_t j = 0; j < width; ++j)
        out[j] = static_cast<W>(static_cast<Wrapping<W>>(out[j]) + x * static_cast<Wrapping<W>>(row[j]));
    }
  }
}

// Batch axes of an operand broadcast to those of the result, in units of whole matrices.
Shape batch_strides(const Shape& operand, size_t matrix_axes, const Shape& batch, int64_t matrix) {
  Shape strides =
      broadcast_strides(Shape(operand.begin(), operand.end() - static_cast<int64_t>(matrix_axes)), batch);
  for (int64_t& s : strides) s *= matrix;
  return strides;
}

template <class W>
void matmul_as(KernelContext& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  store(c.out(0), matmul(load<W>(a), a.shape(), load<W>(b), b.shape(), c.out(0).shape()));
}

void require_equal_depth(KernelContext& c) {
  const Shape &a = c.in(0).shape(), &b = c.in(1).shape();
  if (a.back() != b[b.size() == 1 ? 0 : b.size() - 2])
    c.fail("equal sizes along the summed axis", to_string(a) + " and " + to_string(b));
}

void matmul_any(KernelContext& c) {
  require_equal_depth(c);
  with_wide(c.in(0).dtype(), [&](auto zero) { matmul_as<decltype(zero)>(c); });
}

// An operand in double with its zero point taken off.
std::vector<double> centred(const KernelContext& c, size_t operand, size_t zero_point) {
  auto x = load<double>(c.in(operand));
  if (!c.has(zero_point)) return x;
  auto zero = load<double>(c.in(zero_point));
  const Shape& shape = c.in(operand).shape();
  walk<1>(shape, {broadcast_strides(c.in(zero_point).shape(), shape)},
          [&](int64_t i, const auto& at) { x[static_cast<size_t>(i)] -= zero[static_cast<size_t>(at[0])]; });
  return x;
}

// Sums of products below 2^18 are exact in double up to 2^35 of them, and double is what compilers vectorise
// best.
void matmul_integer(KernelContext& c) {
  require_equal_depth(c);
  store(c.out(0),
        matmul(centred(c, 0, 2), c.in(0).shape(), centred(c, 1, 3), c.in(1).shape(), c.out(0).shape()));
}

}  // namespace

template <class W>
void multiply_add(const W* a, const W* b, W* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t j = 0; j < n; j += kWidth)
    for (int64_t p = 0; p < k; p += kDepth)
      multiply_add_block(a + p, b + p * n + j, c + j, m, n, k, std::min(kWidth, n - j),
                         std::min(kDepth, k - p));
}

template <class W>
std::vector<W> matmul(const std::vector<W>& a, const Shape& sa, const std::vector<W>& b, const Shape& sb,
                      const Shape& result) {
  bool row = sa.size() == 1, column = sb.size() == 1;
  int64_t k = sa.back(), m = row ? 1 : sa[sa.size() - 2], n = column ? 1 : sb.back();
  Shape batch(result.begin(), result.end() - (row ? 0 : 1) - (column ? 0 : 1));
  std::vector<W> out(static_cast<size_t>(element_count(result)));
  walk<2>(batch,
          {batch_strides(sa, row ? 1 : 2, batch, m * k), batch_strides(sb, column ? 1 : 2, batch, k * n)},
          [&](int64_t i, const auto& at) {
            multiply_add(a.data() + at[0], b.data() + at[1], out.data() + i * m * n, m, n, k);
          });
  return out;
}

template void multiply_add(const double*, const double*, double*, int64_t, int64_t, int64_t);
template void multiply_add(const int64_t*, const int64_t*, int64_t*, int64_t, int64_t, int64_t);
template void multiply_add(const uint64_t*, const uint64_t*, uint64_t*, int64_t, int64_t, int64_t);

void add_contraction_kernels(KernelTable& t) {
  t[Op::MatMul] = matmul_any;
  t[Op::MatMulInteger] = matmul_integer;
}

}  // namespace ingot::reference
