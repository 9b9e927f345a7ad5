#include "kernel/llvm/expressions.h"

namespace ingot::kernel {

Expressions::Expressions(FunctionEmitter& emitter, const LoopNest& nest, Leaf leaf)
    : emitter_(emitter), nest_(nest), leaf_(std::move(leaf)), values_(nest.exprs.size()) {}

Expressions::Expressions(const Expressions& outside, Leaf leaf) : Expressions(outside) { leaf_ = std::move(leaf); }

llvm::Value* Expressions::value(int32_t expr) {
  const auto i = static_cast<size_t>(expr);
  if (values_.at(i) != nullptr) return values_[i];
  const Expr& e = nest_.exprs[i];
  if (e.kind == ExprKind::constant) return values_[i] = emitter_.constant(e.dtype, e.real, e.integer);
  if (e.kind != ExprKind::op) return values_[i] = leaf_(expr);
  FunctionEmitter::Values args;
  for (int32_t arg : e.args) args.push_back(value(arg));
  return values_[i] = emit_op(emitter_, nest_, e, std::move(args));
}

}  // namespace ingot::kernel
