#include "kernel/llvm/op_emitters.h"

namespace ingot::kernel {
namespace {

Vec as_real(DType dtype, Vec x, llvm::Type* element) {
  auto* type = x.with_element(element);
  return x.with(is_signed(dtype) ? x.b().CreateSIToFP(x.value, type) : x.b().CreateUIToFP(x.value, type));
}

// The quotient of 32-bit numbers is exact in double but for the fraction, and vectors have no other division.
Vec quotient_in_f64(DType dtype, Vec a, Vec b) {
  auto* real = a.b().getDoubleTy();
  const Vec q = as_real(dtype, a, real) / as_real(dtype, b, real);
  return a.with(is_signed(dtype) ? a.b().CreateFPToSI(q.value, a.type())
                                 : a.b().CreateFPToUI(q.value, a.type()));
}

// b is neither 0 nor -1.
Vec plain_quotient(DType dtype, Vec a, Vec b) {
  if (bit_width(dtype) <= 32) return quotient_in_f64(dtype, a, b);
  return a.with(is_signed(dtype) ? a.b().CreateSDiv(a.value, b.value) : a.b().CreateUDiv(a.value, b.value));
}

}  // namespace

bool is_signed(DType dtype) { return is_signed_integer(dtype); }

Vec divide_integers(DType dtype, Vec a, Vec b) {
  const Vec is_zero = b == 0;
  Vec divisor = select(is_zero, 1, b);
  if (!is_signed(dtype)) return select(is_zero, 0, plain_quotient(dtype, a, divisor));
  const Vec is_minus_one = b == -1;
  divisor = select(is_minus_one, 1, divisor);
  const Vec quotient = select(is_minus_one, -a, plain_quotient(dtype, a, divisor));
  return select(is_zero, 0, quotient);
}

Vec modulo_integers(DType dtype, Vec a, Vec b, bool truncate) {
  const Vec remainder = select(b == 0, 0, a - divide_integers(dtype, a, b) * b);
  if (truncate || !is_signed(dtype)) return remainder;
  const Vec signs_differ = a.with(a.b().CreateXor((remainder < 0).value, (b < 0).value));
  return select(signs_differ, select(remainder == 0, 0, remainder + b), remainder);
}

// Bits shifted out of 64 are gone; narrower types keep their low bits.
Vec shift(Op op, Vec a, Vec b) {
  const unsigned width = a.type()->getScalarSizeInBits();
  const Vec is_out = a.with(a.b().CreateICmpUGE(b.value, a.like(width).value));
  const Vec amount = select(is_out, 0, b);
  auto* shifted =
      op == Op::ShiftLeft ? a.b().CreateShl(a.value, amount.value) : a.b().CreateLShr(a.value, amount.value);
  return select(is_out, 0, a.with(shifted));
}

}  // namespace ingot::kernel
