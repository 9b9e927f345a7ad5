#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"

namespace ingot::reference {
namespace {

// Calls f(i, k) for each element i of x with k the scale that applies to it: see check_granularity in
// rules_quantization.cpp.
template <class F>
void for_each_scaled(const Shape& x, const Tensor& scale, int64_t axis, int64_t block, F f) {
  int64_t count = element_count(x);
  if (block == 0 && scale.count() == 1) {
    for (int64_t i = 0; i < count; ++i) f(i, 0);
    return;
  }
  if (axis < 0) axis += static_cast<int64_t>(x.size());
  int64_t length = x[static_cast<size_t>(axis)];
  int64_t inner = element_count(Shape(x.begin() + axis + 1, x.end()));
  int64_t blocks = block == 0 ? length : (length + block - 1) / block;
  int64_t along = block == 0 ? 0 : 1;  // step of k for a step along the inner axes
  for (int64_t i = 0, row = 0; i < count; ++row) {
    int64_t outer = row / length, slice = block == 0 ? row % length : row % length / block;
    int64_t first = block == 0 ? slice : (outer * blocks + slice) * inner;
    for (int64_t r = 0; r < inner; ++r, ++i) f(i, first + r * along);
  }
}

double rounded_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f64: return value;
    case DType::f32: return static_cast<float>(value);
    default: return decode_float(dtype, encode_float(dtype, value));
  }
}

// The zero point of scale k; a single one serves all.
class ZeroPoints {
 public:
  ZeroPoints(const KernelContext& c, size_t operand) {
    values_ = c.has(operand) ? load<double>(c.in(operand)) : std::vector<double>{0.0};
  }
  double operator[](int64_t k) const { return values_[values_.size() == 1 ? 0 : static_cast<size_t>(k)]; }

 private:
  std::vector<double> values_;
};

// The quotient is rounded to `precision` first, then, for integers, to the nearest one with ties to even.
void quantize(KernelContext& c) {
  const auto& a = c.attrs<QuantizeAttrs>();
  auto x = load<double>(c.in(0)), scale = load<double>(c.in(1));
  ZeroPoints zero(c, 2);
  bool whole = is_integer(a.to), is_signed = is_signed_integer(a.to);
  double steps = std::ldexp(1.0, bit_width(a.to) - (is_signed ? 1 : 0));
  double low = is_signed ? -steps : 0, high = steps - 1;
  for_each_scaled(c.in(0).shape(), c.in(1), a.axis, a.block_size, [&](int64_t i, int64_t k) {
    double& e = x[static_cast<size_t>(i)];
    e = rounded_to(a.precision, e / scale[static_cast<size_t>(k)]);
    if (whole)
      e = std::min(std::max(std::nearbyint(e) + zero[k], low), high);
    else
      e += zero[k];
  });
  store(c.out(0), x, {.saturate = a.saturate});
}

void dequantize(KernelContext& c) {
  const auto& a = c.attrs<DequantizeAttrs>();
  auto x = load<double>(c.in(0)), scale = load<double>(c.in(1));
  ZeroPoints zero(c, 2);
  for_each_scaled(c.in(0).shape(), c.in(1), a.axis, a.block_size, [&](int64_t i, int64_t k) {
    double& e = x[static_cast<size_t>(i)];
    e = (e - zero[k]) * scale[static_cast<size_t>(k)];
  });
  store(c.out(0), x);
}

}  // namespace

void add_quantization_kernels(KernelTable& t) {
  t[Op::Dequantize] = dequantize;
  t[Op::Quantize] = quantize;
}

}  // namespace ingot::reference
