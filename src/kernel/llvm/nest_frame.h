#pragma once

#include <optional>

#include "kernel/llvm/expressions.h"

namespace ingot::kernel {

// Where the function stands: indexes along the axes walked so far, and the element of every access there.
struct Place {
  FunctionEmitter::Values index;    // per axis; 0 before it is walked
  FunctionEmitter::Values pointer;  // per access
  llvm::Value* scratch = nullptr;   // the first slot; null where nothing is kept
};

// What the loops of a nest share: sizes and addresses of the call, and how expressions reach memory.
class NestFrame {
 public:
  NestFrame(FunctionEmitter& emitter, const LoopNest& nest);

  FunctionEmitter& emitter() { return emitter_; }
  llvm::IRBuilder<>& builder() { return emitter_.builder(); }
  const LoopNest& nest() const { return nest_; }
  int lanes() const { return emitter_.lanes(); }

  const Place& start() const { return start_; }
  llvm::Value* begin() { return begin_; }
  llvm::Value* end() { return end_; }
  llvm::Value* extent(size_t axis) { return extents_.at(axis); }
  llvm::Value* number(const Size& size);
  llvm::Value* stride_bytes(size_t access, size_t axis) { return strides_.at(access).at(axis); }

  // The place `i` steps along an axis, from index 0 of it; further steps, all along it.
  Place along(const Place& place, size_t axis, llvm::Value* i);
  Place further(const Place& place, size_t axis, int64_t steps);

  // From now on places have scratch, which moves by these bytes per step along each axis (null: not at all).
  void use_scratch(FunctionEmitter::Values strides);

  // Values at a place, which is that of the first lane; `mask` as in FunctionEmitter.
  Expressions::Leaf leaf(const Place& place, llvm::Value* mask);
  void store(const Store& store, const Place& place, llvm::Value* value, llvm::Value* mask);

 private:
  llvm::Value* load(const Expr& e, const Place& place, llvm::Value* mask);
  llvm::Value* index(size_t axis, const Place& place);

  FunctionEmitter& emitter_;
  const LoopNest& nest_;
  llvm::Value* sizes_;
  llvm::Value* begin_;
  llvm::Value* end_;
  FunctionEmitter::Values extents_;
  std::vector<FunctionEmitter::Values> strides_;  // [access][axis], in bytes; null where constant 0
  FunctionEmitter::Values scratch_strides_;       // per axis; null where scratch stays
  Place start_;
};

// Calls `body` with every point of the parallel axes but the last, in a loop over [begin, end) of the call,
// and with the range of the last that is to be computed. Without a parallel axis: once, with no range, where
// begin < end.
struct Range {
  llvm::Value* low = nullptr;
  llvm::Value* high = nullptr;
};
void walk_outer(NestFrame& frame, const std::function<void(const Place&, std::optional<Range>)>& body);
// The last parallel axis.
std::optional<size_t> last_parallel_axis(const LoopNest& nest);

// Calls `body` in a loop over positions [low, high), low < high, of the row-major space of the first `axes`
// axes.
void walk_space(NestFrame& frame, Range positions, size_t axes,
                const std::function<void(const Place&, llvm::Value* position)>& body);

// Computes the parts of `roots` that do not vary as `inside` says, so that a loop finds them in `values`.
void hoist(Expressions& values, const LoopNest& nest, const std::vector<int32_t>& roots,
           const std::vector<bool>& inside);
// About how many instructions the parts take that do vary.
int weight_inside(const LoopNest& nest, const std::vector<int32_t>& roots, const std::vector<bool>& inside);

// Splits [low, high) in whole blocks of `unroll` vectors, and masked vectors for the rest, with values
// carried from turn to turn. `mask` is null for whole vectors.
using VectorBody = std::function<FunctionEmitter::Values(llvm::Value* i, int vectors, llvm::Value* mask,
                                                         FunctionEmitter::Values carried)>;
FunctionEmitter::Values walk_vectors(NestFrame& frame, Range range, int unroll,
                                     FunctionEmitter::Values carried, const VectorBody& body);

// Whether a pointwise nest has an access that is contiguous along the axis before the last, rather than along
// vectors.
bool is_transposed(const LoopNest& nest);

// The shapes of nests.
void emit_pointwise(NestFrame& frame);
void emit_transposed(NestFrame& frame);
void emit_rows(NestFrame& frame);
void emit_columns(NestFrame& frame);

}  // namespace ingot::kernel
