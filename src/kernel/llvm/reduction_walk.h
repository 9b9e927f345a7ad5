#pragma once

#include "kernel/llvm/nest_frame.h"
#include "kernel/schedule.h"

namespace ingot::kernel {

// One walk over the reduced axes: what it folds, keeps in scratch and stores. Accumulators are carried
// through its loops, `slots` per fold, so that neighbouring vectors do not wait for each other.
class ReductionWalk {
 public:
  // `slot_bytes`: from one kept expression to the next in scratch; null where none is kept.
  ReductionWalk(NestFrame& frame, const Walks& walks, int32_t number, llvm::Value* slot_bytes);

  // Before its loops: what does not vary along reduced axes is computed, into the values of a point.
  void prepare(Expressions& values) const;

  bool is_empty() const { return roots_.empty(); }
  const std::vector<int32_t>& folds() const { return folds_; }
  // How many vectors to have in flight, at most `limit`.
  int unroll(int limit) const;

  FunctionEmitter::Values identities(int slots);
  // Computes at a place and folds into accumulators [fold * slots + slot]; gives what finish_step stores
  // there.
  FunctionEmitter::Values step(const Expressions& outside, const Place& place, llvm::Value* mask,
                               FunctionEmitter::Values& accumulators, int slots, int slot);
  void finish_step(const Place& place, llvm::Value* mask, const FunctionEmitter::Values& results);

  llvm::Value* fold(int32_t expr, llvm::Value* a, llvm::Value* b);

 private:
  llvm::Value* slot(const Place& place, size_t kept);

  NestFrame& frame_;
  const LoopNest& nest_;
  const Walks& walks_;
  int32_t number_;
  llvm::Value* slot_bytes_;
  std::vector<int32_t> folds_;  // reductions
  std::vector<Store> stores_;
  std::vector<int32_t> roots_;  // what is folded or stored
};

// Loops over the reduced axes before `end`, outermost first; `body` stands at a place of them.
using ReducedBody = std::function<FunctionEmitter::Values(const Place&, FunctionEmitter::Values carried)>;
FunctionEmitter::Values loop_reduced(NestFrame& frame, const Place& place, size_t end,
                                     FunctionEmitter::Values carried, const ReducedBody& body);

// What is stored once per point of the parallel axes. `store` gets each value, after all are computed.
void store_totals(const LoopNest& nest, const Walks& walks, Expressions& values,
                  const std::function<void(const Store&, llvm::Value*)>& store);

// Lays slots of f32 out in scratch if the walks keep anything: `innermost` elements per point of the reduced
// axes before `end`. Gives the bytes of a slot, or null.
llvm::Value* lay_out_scratch(NestFrame& frame, const Walks& walks, size_t end, llvm::Value* innermost);

}  // namespace ingot::kernel
