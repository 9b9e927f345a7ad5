#include "passes/pipeline.h"

#include <array>

#include "ingot/error.h"
#include "ir/verify.h"
#include "passes/canonicalise.h"
#include "passes/fold_constants.h"
#include "passes/gather_early.h"
#include "passes/merge_duplicates.h"
#include "passes/order_nodes.h"
#include "passes/place_quantisation.h"
#include "passes/recognise_activations.h"
#include "passes/recognise_attention.h"
#include "passes/recognise_gelu.h"
#include "passes/recognise_norms.h"
#include "passes/recognise_rotary.h"
#include "passes/recognise_softmax.h"
#include "passes/remove_dead_code.h"
#include "passes/simplify_shapes.h"

namespace ingot {
namespace {

constexpr auto kPasses = std::to_array<Pass>({
    // First, since simplify_shapes and merge_duplicates keep the first of several equals.
    {"order_nodes", order_nodes, false},
    {"fold_constants", fold_constants},
    {"simplify_shapes", simplify_shapes},
    {"canonicalise", canonicalise},
    {"merge_duplicates", merge_duplicates},
    // Before patterns, since a value that only dead code reads is private.
    {"remove_dead_code", remove_dead_code},
    // Patterns are looked for in the one form that the passes above leave. Softmax before attention, which
    // holds one.
    {"recognise_softmax", recognise_softmax},
    {"recognise_norms", recognise_norms},
    {"recognise_activations", recognise_activations},
    {"recognise_gelu", recognise_gelu},
    {"recognise_rotary", recognise_rotary},
    {"recognise_attention", recognise_attention},
    // Again, for what the patterns left over: transposed keys, constants that now meet.
    {"canonicalise", canonicalise},
    {"fold_constants", fold_constants},
    {"merge_duplicates", merge_duplicates},
    {"gather_early", gather_early},
    // After the last merge, which would undo its copies.
    {"place_quantisation", place_quantisation},
    {"fold_constants", fold_constants},
    // Late, since each pass before it leaves nodes that nothing reads.
    {"remove_dead_code", remove_dead_code},
    // Last, and not optional: the engine is to be the same whichever compiler built this program.
    {"order_nodes", order_nodes, false},
});

void check_names(const PipelineOptions& options) {
  for (const std::string& name : options.disabled) {
    auto found = std::ranges::find(kPasses, name, &Pass::name);
    if (found != kPasses.end() && found->optional) continue;
    std::vector<std::string_view> known;
    for (const Pass& p : kPasses)
      if (p.optional && std::ranges::find(known, p.name) == known.end()) known.push_back(p.name);
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "pass",
                 .name = name,
                 .expected = fmt::format("one of {}", fmt::join(known, ", ")),
                 .observed = found == kPasses.end() ? "no pass of this name" : "a pass that always runs"});
  }
}

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }

Graph run_pipeline(Graph graph, const PipelineOptions& options) {
  check_names(options);
  for (const Pass& pass : kPasses) {
    if (options.disabled.contains(pass.name)) continue;
    auto start = std::chrono::steady_clock::now();
    size_t before = graph.nodes().size();
    graph = pass.run(graph);
    auto time = std::chrono::steady_clock::now() - start;
    if (options.verify_each) verify(graph);
    if (options.after) options.after({pass.name, time, before, graph.nodes().size()}, graph);
  }
  return graph;
}

}  // namespace ingot
