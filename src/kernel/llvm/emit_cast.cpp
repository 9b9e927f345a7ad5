#include "kernel/llvm/op_emitters.h"

namespace ingot::kernel {
namespace {

llvm::Type* type_like(DType dtype, Vec x) { return x.with_element(x.emitter->scalar_type(dtype)); }

Vec from_boolean(DType to, Vec x) {
  auto* type = type_like(to, x);
  return x.with(is_floating(to) ? x.b().CreateUIToFP(x.value, type) : x.b().CreateZExt(x.value, type));
}

Vec to_boolean(DType from, Vec x) {
  auto* zero = llvm::Constant::getNullValue(x.type());
  return x.with(is_floating(from) ? x.b().CreateFCmpUNE(x.value, zero) : x.b().CreateICmpNE(x.value, zero));
}

Vec integer_to_real(DType from, DType to, Vec x) {
  auto* type = type_like(to, x);
  return x.with(is_signed(from) ? x.b().CreateSIToFP(x.value, type) : x.b().CreateUIToFP(x.value, type));
}

Vec saturated(llvm::Intrinsic::ID id, llvm::Type* type, Vec x) {
  return x.with(x.b().CreateIntrinsic(id, {type, x.type()}, {x.value}));
}

// Fractions are dropped, NaN gives 0, and what lies beyond 64 bits their nearest end.
Vec real_to_64_bits(DType to, Vec x) {
  auto* type = type_like(to, x);
  const Vec result = saturated(llvm::Intrinsic::fptosi_sat, type, x);
  if (is_signed(to)) return result;
  return select(x < 0x1p63, result, saturated(llvm::Intrinsic::fptoui_sat, type, x));
}

// The low 32 bits of the same: whole multiples of 2^32 are taken off first, which is exact.
Vec real_to_32_bits(bool is_signed_type, Vec x) {
  const Vec whole = truncated(x);
  Vec rest = fma(truncated(whole * 0x1p-32), -0x1p32, whole);
  rest = select(rest < 0x1p31, rest, rest - 0x1p32);
  rest = select(rest < -0x1p31, rest + 0x1p32, rest);
  const Vec plain = rest.with(rest.b().CreateFPToSI(rest.value, type_like(DType::i32, rest)));
  const double end = is_signed_type ? 0x1p63 : 0x1p64;
  const Vec is_beyond = !((x < end) | is_nan(x));  // the highest number of 64 bits
  const Vec is_plain = (x < 0x1p63) & (x.like(-0x1p63) < x);
  return select(is_plain, plain, select(is_beyond, -1, plain.like(0)));
}

Vec real_to_integer(DType from, DType to, Vec x, bool is_small) {
  if (bit_width(to) == 64) return real_to_64_bits(to, x);
  Vec bits = x;
  if (from == DType::f64) {
    bits = real_to_64_bits(is_signed(to) ? DType::i64 : DType::u64, x);
  } else if (is_small && bit_width(to) < 32) {  // the low bits of what NaN becomes are 0
    bits = x.with(x.b().CreateFPToSI(x.value, type_like(DType::i32, x)));
  } else {
    bits = real_to_32_bits(is_signed(to), x);
  }
  return x.with(x.b().CreateTrunc(bits.value, type_like(to, x)));
}

}  // namespace

Vec cast(DType from, DType to, Vec x, bool is_small) {
  if (from == to) return x;
  if (to == DType::boolean) return to_boolean(from, x);
  if (from == DType::boolean) return from_boolean(to, x);
  if (is_floating(from) && is_floating(to)) return to == DType::f64 ? to_f64(x) : to_f32(x);
  if (is_floating(from)) return real_to_integer(from, to, x, is_small);
  if (is_floating(to)) return integer_to_real(from, to, x);
  return x.with(x.b().CreateIntCast(x.value, type_like(to, x), is_signed(from)));
}

Vec bit_cast(DType from, DType to, Vec x) {
  if (from == DType::boolean || to == DType::boolean) return cast(from, to, x, false);
  return x.with(x.b().CreateBitCast(x.value, type_like(to, x)));
}

}  // namespace ingot::kernel
