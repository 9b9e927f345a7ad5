#include "kernel/llvm/expressions.h"

#include "kernel/llvm/vector_value.h"

namespace ingot::kernel {

Expressions::Expressions(FunctionEmitter& emitter, const LoopNest& nest, Leaf leaf)
    : emitter_(emitter),
      nest_(nest),
      leaf_(std::move(leaf)),
      values_(nest.exprs.size()),
      factors_(nest.exprs.size()) {}

Expressions::Expressions(const Expressions& outside, Leaf leaf) : Expressions(outside) {
  leaf_ = std::move(leaf);
}

llvm::Value* Expressions::value(int32_t expr) {
  const auto i = static_cast<size_t>(expr);
  if (values_.at(i) != nullptr) return values_[i];
  const Expr& e = nest_.exprs[i];
  if (e.kind == ExprKind::constant) return values_[i] = emitter_.constant(e.dtype, e.real, e.integer);
  if (e.kind != ExprKind::op && e.kind != ExprKind::fma) return values_[i] = leaf_(expr);
  if (const Factors& f = factors_[i]; f.scale != nullptr) {
    auto& b = emitter_.builder();
    return values_[i] = b.CreateFMul(b.CreateFMul(value(e.args[0]), f.scale), f.reciprocal);
  }
  FunctionEmitter::Values args;
  for (int32_t arg : e.args) args.push_back(value(arg));
  if (e.kind == ExprKind::fma) return values_[i] = emitter_.fma(args.at(0), args.at(1), args.at(2));
  return values_[i] = emit_op(emitter_, nest_, e, std::move(args));
}

// The scale, a power of two, keeps the reciprocal a normal number; scaling is exact unless the quotient
// itself is beyond the range.
void Expressions::multiply_by_reciprocal(int32_t division) {
  const auto i = static_cast<size_t>(division);
  const Vec divisor{&emitter_, value(nest_.exprs.at(i).args.at(1))};
  const Vec size = abs(divisor);
  const Vec scale = select(0x1p64 < size, 0x1p-64, select(size < 0x1p-64, 0x1p64, divisor.like(1)));
  factors_.at(i) = {scale.value, (1 / (divisor * scale)).value};
}

}  // namespace ingot::kernel
