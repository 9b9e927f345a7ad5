#pragma once

#include <llvm/IR/Constants.h>

#include <span>

#include "kernel/llvm/function_emitter.h"

namespace ingot::kernel {

// A vector in the function being written, so that formulas read as formulas. Comparisons give masks (i1 per
// lane) and are false where an operand is NaN.
struct Vec {
  FunctionEmitter* emitter = nullptr;
  llvm::Value* value = nullptr;

  llvm::IRBuilder<>& b() const { return emitter->builder(); }
  llvm::Type* type() const { return value->getType(); }
  bool is_real() const { return type()->isFPOrFPVectorTy(); }

  Vec with(llvm::Value* other) const { return {emitter, other}; }
  // A constant of the same type.
  Vec like(double number) const {
    if (is_real()) return with(llvm::ConstantFP::get(type(), number));
    return with(llvm::ConstantInt::get(type(), static_cast<uint64_t>(static_cast<int64_t>(number)), true));
  }
  llvm::Type* with_element(llvm::Type* element) const { return type()->getWithNewType(element); }
  Vec call(llvm::Intrinsic::ID id) const { return with(b().CreateUnaryIntrinsic(id, value)); }
};

inline Vec operator+(Vec a, Vec c) {
  return a.with(a.is_real() ? a.b().CreateFAdd(a.value, c.value) : a.b().CreateAdd(a.value, c.value));
}
inline Vec operator-(Vec a, Vec c) {
  return a.with(a.is_real() ? a.b().CreateFSub(a.value, c.value) : a.b().CreateSub(a.value, c.value));
}
inline Vec operator*(Vec a, Vec c) {
  return a.with(a.is_real() ? a.b().CreateFMul(a.value, c.value) : a.b().CreateMul(a.value, c.value));
}
inline Vec operator/(Vec a, Vec c) { return a.with(a.b().CreateFDiv(a.value, c.value)); }
inline Vec operator-(Vec a) {
  return a.with(a.is_real() ? a.b().CreateFNeg(a.value) : a.b().CreateNeg(a.value));
}
inline Vec operator+(Vec a, double c) { return a + a.like(c); }
inline Vec operator-(Vec a, double c) { return a - a.like(c); }
inline Vec operator*(Vec a, double c) { return a * a.like(c); }
inline Vec operator-(double c, Vec a) { return a.like(c) - a; }
inline Vec operator/(double c, Vec a) { return a.like(c) / a; }

inline Vec operator<(Vec a, Vec c) {
  return a.with(a.is_real() ? a.b().CreateFCmpOLT(a.value, c.value) : a.b().CreateICmpSLT(a.value, c.value));
}
inline Vec operator==(Vec a, Vec c) {
  return a.with(a.is_real() ? a.b().CreateFCmpOEQ(a.value, c.value) : a.b().CreateICmpEQ(a.value, c.value));
}
inline Vec operator<(Vec a, double c) { return a < a.like(c); }
inline Vec operator<(double c, Vec a) { return a.like(c) < a; }
inline Vec operator==(Vec a, double c) { return a == a.like(c); }
inline Vec is_nan(Vec a) { return a.with(a.b().CreateFCmpUNO(a.value, a.value)); }

// Of integers and masks.
inline Vec operator&(Vec a, Vec c) { return a.with(a.b().CreateAnd(a.value, c.value)); }
inline Vec operator|(Vec a, Vec c) { return a.with(a.b().CreateOr(a.value, c.value)); }
inline Vec operator!(Vec a) { return a.with(a.b().CreateNot(a.value)); }
inline Vec operator&(Vec a, double c) { return a & a.like(c); }
inline Vec operator<<(Vec a, int n) { return a.with(a.b().CreateShl(a.value, static_cast<uint64_t>(n))); }
inline Vec operator>>(Vec a, int n) { return a.with(a.b().CreateAShr(a.value, static_cast<uint64_t>(n))); }

inline Vec select(Vec mask, Vec a, Vec c) { return a.with(a.b().CreateSelect(mask.value, a.value, c.value)); }
inline Vec select(Vec mask, Vec a, double c) { return select(mask, a, a.like(c)); }
inline Vec select(Vec mask, double a, Vec c) { return select(mask, c.like(a), c); }

// NaN stays.
inline Vec at_most(Vec a, double limit) { return select(limit < a, limit, a); }
inline Vec at_least(Vec a, double limit) { return select(a < limit, limit, a); }

inline Vec abs(Vec a) { return a.call(llvm::Intrinsic::fabs); }
inline Vec sqrt(Vec a) { return a.call(llvm::Intrinsic::sqrt); }
inline Vec truncated(Vec a) { return a.call(llvm::Intrinsic::trunc); }
inline Vec with_sign_of(Vec a, Vec sign) {
  return a.with(a.b().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a.value, sign.value));
}
inline Vec fma(Vec a, Vec c, Vec d) { return a.with(a.emitter->fma(a.value, c.value, d.value)); }
inline Vec fma(Vec a, double c, Vec d) { return fma(a, a.like(c), d); }
inline Vec fma(Vec a, double c, double d) { return fma(a, a.like(c), a.like(d)); }

// The bits of an f32 as i32, and back.
inline Vec bits_of(Vec a) { return a.with(a.b().CreateBitCast(a.value, a.with_element(a.b().getInt32Ty()))); }
inline Vec from_bits(Vec a) {
  return a.with(a.b().CreateBitCast(a.value, a.with_element(a.b().getFloatTy())));
}
inline Vec to_f64(Vec a) { return a.with(a.b().CreateFPExt(a.value, a.with_element(a.b().getDoubleTy()))); }
inline Vec to_f32(Vec a) { return a.with(a.b().CreateFPTrunc(a.value, a.with_element(a.b().getFloatTy()))); }

// c[0] + c[1] x + c[2] x^2 ...
inline Vec polynomial(Vec x, std::span<const double> c) {
  Vec sum = x.like(c.back());
  for (size_t k = c.size() - 1; k-- > 0;) sum = fma(sum, x, x.like(c[k]));
  return sum;
}

}  // namespace ingot::kernel
