// Stands in until expressions.cpp is there: just enough for plain epilogues.
#include "ingot/error.h"
#include "kernel/llvm/expressions.h"

namespace ingot::kernel {

__attribute__((weak)) Expressions::Expressions(FunctionEmitter& emitter, const LoopNest& nest, Leaf leaf)
    : emitter_(emitter), nest_(nest), leaf_(std::move(leaf)), values_(nest.exprs.size()) {}

__attribute__((weak)) llvm::Value* Expressions::value(int32_t index) {
  const auto& expr = nest_.exprs.at(static_cast<size_t>(index));
  auto*& value = values_.at(static_cast<size_t>(index));
  if (value != nullptr) return value;
  if (expr.kind == ExprKind::constant) return value = emitter_.constant(expr.dtype, expr.real, expr.integer);
  if (expr.kind != ExprKind::op) return value = leaf_(index);
  FunctionEmitter::Values args;
  for (const int32_t arg : expr.args) args.push_back(this->value(arg));
  return value = emit_op(emitter_, nest_, expr, std::move(args));
}

__attribute__((weak)) llvm::Value* emit_op(FunctionEmitter& emitter, const LoopNest&, const Expr& expr,
                                           FunctionEmitter::Values args) {
  auto& builder = emitter.builder();
  if (expr.op == Op::Add) return builder.CreateFAdd(args.at(0), args.at(1));
  if (expr.op == Op::Mul) return builder.CreateFMul(args.at(0), args.at(1));
  auto* zero = emitter.constant(DType::f32, 0, 0);
  if (expr.op == Op::Relu)
    return builder.CreateSelect(builder.CreateFCmpOLT(args.at(0), zero), zero, args.at(0));
  if (expr.op == Op::Cast) return builder.CreateSIToFP(args.at(0), emitter.vector_type(expr.dtype));
  throw Error({.code = ErrorCode::unsupported, .object = "kernel", .observed = "an op"});
}

}  // namespace ingot::kernel
