#include "kernel/llvm/nest_frame.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

// Short chains need several vectors per turn to reach the speed of memory; long ones are that by themselves.
int unroll_for(int weight) { return weight < 8 ? 4 : weight < 16 ? 2 : 1; }

}  // namespace

void emit_pointwise(NestFrame& frame) {
  const LoopNest& nest = frame.nest();
  const auto axis = static_cast<size_t>(nest.vector_axis);
  const auto inside = varying(nest, nest.vector_axis);
  std::vector<int32_t> roots;
  for (const Store& store : nest.stores) roots.push_back(store.expr);
  const int unroll = unroll_for(weight_inside(nest, roots, inside));

  walk_outer(frame, [&](const Place& row, std::optional<Range> range) {
    Expressions outside(frame.emitter(), nest, frame.leaf(row, nullptr));
    hoist(outside, nest, roots, inside);
    walk_vectors(frame, *range, unroll, {}, [&](llvm::Value* i, int vectors, llvm::Value* mask, Values) {
      const Place first = frame.along(row, axis, i);
      std::vector<Values> results;  // all are computed before any is stored: loads come first
      for (int v = 0; v < vectors; ++v) {
        Expressions values(outside, frame.leaf(frame.further(first, axis, v * frame.lanes()), mask));
        auto& stored = results.emplace_back();
        for (int32_t root : roots) stored.push_back(values.value(root));
      }
      for (int v = 0; v < vectors; ++v)
        for (size_t s = 0; s < nest.stores.size(); ++s)
          frame.store(nest.stores[s], frame.further(first, axis, v * frame.lanes()),
                      results[static_cast<size_t>(v)][s], mask);
      return Values{};
    });
  });
}

}  // namespace ingot::kernel
