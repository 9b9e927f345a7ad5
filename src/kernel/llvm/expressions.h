#pragma once

#include "kernel/llvm/function_emitter.h"

namespace ingot::kernel {

// The values of the expressions of a nest at one place, as vectors; each is emitted once, where it is first
// needed.
class Expressions {
 public:
  // Gives the vector for a load, index, reduce or accumulator expression.
  using Leaf = std::function<llvm::Value*(int32_t expr)>;

  Expressions(FunctionEmitter& emitter, const LoopNest& nest, Leaf leaf);
  // Inside a loop: starts from the values that are known outside.
  Expressions(const Expressions& outside, Leaf leaf);
  llvm::Value* value(int32_t expr);
  // Takes a value from elsewhere instead of computing it: one that is the same at all places, say.
  void set(int32_t expr, llvm::Value* value) { values_.at(static_cast<size_t>(expr)) = value; }
  // Has an f32 division computed as a product with the reciprocal of its divisor, which is known here. It may
  // then err by one unit in the last place more.
  void multiply_by_reciprocal(int32_t division);

 private:
  FunctionEmitter& emitter_;
  const LoopNest& nest_;
  Leaf leaf_;
  std::vector<llvm::Value*> values_;
  // Of divisions: the dividend times both.
  struct Factors {
    llvm::Value* scale = nullptr;
    llvm::Value* reciprocal = nullptr;
  };
  std::vector<Factors> factors_;
};

// One pointwise op on vectors of its operand types (see Expr for attributes).
llvm::Value* emit_op(FunctionEmitter& emitter, const LoopNest& nest, const Expr& expr,
                     FunctionEmitter::Values args);

// ReduceSum, ReduceProd, ReduceMax or ReduceMin of two vectors or scalars, and what it starts from as a
// vector.
llvm::Value* emit_fold(FunctionEmitter& emitter, Op op, DType dtype, llvm::Value* a, llvm::Value* b);
llvm::Value* fold_identity(FunctionEmitter& emitter, Op op, DType dtype);

}  // namespace ingot::kernel
