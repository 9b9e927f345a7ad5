#pragma once

#include "kernel/llvm/function_emitter.h"

namespace ingot::kernel {

// The values of the expressions of a nest at one place, as vectors; each is emitted once, where it is first needed.
class Expressions {
 public:
  // Gives the vector for a load, index, reduce or accumulator expression.
  using Leaf = std::function<llvm::Value*(int32_t expr)>;

  Expressions(FunctionEmitter& emitter, const LoopNest& nest, Leaf leaf);
  llvm::Value* value(int32_t expr);

 private:
  FunctionEmitter& emitter_;
  const LoopNest& nest_;
  Leaf leaf_;
  std::vector<llvm::Value*> values_;
};

// One pointwise op on vectors of its operand types (see Expr for attributes).
llvm::Value* emit_op(FunctionEmitter& emitter, const LoopNest& nest, const Expr& expr, FunctionEmitter::Values args);

}  // namespace ingot::kernel
