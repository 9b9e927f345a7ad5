#include <gtest/gtest.h>

#include "ingot/error.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/canonicalise.h"
#include "passes/fold_constants.h"
#include "passes/merge_duplicates.h"
#include "passes/pipeline.h"
#include "passes/remove_dead_code.h"

// Text in, text out. Numbers of values are compared as written, so each expectation is the whole graph.
namespace ingot {
namespace {

std::string after(Graph (*pass)(const Graph&), const std::string& body) {
  return print(remove_dead_code(pass(parse_graph("graph \"g\" {\n" + body + "}"))));
}

std::string graph(const std::string& body) { return "graph \"g\" {\n" + body + "}\n"; }

TEST(FoldConstantsTest, ReplacesANodeOfConstantsByItsResult) {
  EXPECT_EQ(after(fold_constants, "%0 = constant f32[2] [1, 2]\n%1 = add(%0, %0)\noutput \"y\" = %1\n"),
            graph("  %0 = constant f32[2] [2, 4]\n  output \"y\" = %0\n"));
}

TEST(FoldConstantsTest, FollowsShapesThroughArithmetic) {
  EXPECT_EQ(after(fold_constants,
                  "%0 = input \"x\" : f32[n, 3]\n%1 = shape_of(%0) {start = 1}\n%2 = constant i64[1] [2]\n"
                  "%3 = mul(%1, %2)\noutput \"y\" = %3\n"),
            graph("  %0 = input \"x\" : f32[n, 3]\n  %1 = constant i64[1] [6]\n  output \"y\" = %1\n"));
}

// As exporters write squeeze of an axis that may or may not have one element: known here, so the rank is,
// too.
TEST(FoldConstantsTest, TakesTheBranchOfAKnownCondition) {
  const std::string body =
      "%0 = input \"x\" : f32[n, 1]\n%1 = shape_of(%0) {start = 1}\n%2 = constant i64[1] [SIZE]\n"
      "%3 = equal(%1, %2)\n%4 = if(%3, %0) (graph \"then\" {\n%0 = input \"x\" : f32[n, 1]\n"
      "%1 = constant i64[1] [1]\n%2 = squeeze(%0, %1)\noutput \"y\" = %2\n}, graph \"else\" {\n"
      "%0 = input \"x\" : f32[n, 1]\n%1 = relu(%0)\noutput \"y\" = %1\n})\noutput \"y\" = %4\n";
  auto with_size = [&](const std::string& size) {
    std::string text = body;
    return text.replace(text.find("SIZE"), 4, size);
  };
  EXPECT_EQ(after(fold_constants, with_size("1")),
            graph("  %0 = input \"x\" : f32[n, 1]\n  %1 = constant i64[1] [1]\n"
                  "  %2 = squeeze(%0, %1) : f32[n]\n  output \"y\" = %2\n"));
  EXPECT_EQ(after(fold_constants, with_size("2")),
            graph("  %0 = input \"x\" : f32[n, 1]\n  %1 = relu(%0) : f32[n, 1]\n  output \"y\" = %1\n"));
}

TEST(FoldConstantsTest, KeepsWeightsOfFewBits) {
  const std::string text = graph(
      "  %0 = constant i8[2] [1, 2]\n  %1 = constant f32[] [0.5]\n  %2 = dequantize(%0, %1) : f32[2]\n"
      "  output \"y\" = %2\n");
  EXPECT_EQ(print(fold_constants(parse_graph(text))), text);
}

TEST(CanonicaliseTest, DropsABoundThatBindsNothing) {
  EXPECT_EQ(
      after(
          canonicalise,
          "%0 = input \"x\" : f32[2]\n%1 = constant f32[] 0x000080ff\n%2 = max(%1, %0)\noutput \"y\" = %2\n"),
      graph("  %0 = input \"x\" : f32[2]\n  output \"y\" = %0\n"));
}

TEST(CanonicaliseTest, DropsTransposesThatCancel) {
  EXPECT_EQ(
      after(canonicalise,
            "%0 = input \"x\" : f32[2, 3]\n%1 = transpose(%0)\n%2 = transpose(%1) {permutation = [1, 0]}\n"
            "%3 = exp(%2)\noutput \"y\" = %3\n"),
      graph("  %0 = input \"x\" : f32[2, 3]\n  %1 = exp(%0) : f32[2, 3]\n  output \"y\" = %1\n"));
}

TEST(CanonicaliseTest, MergesReshapes) {
  EXPECT_EQ(after(canonicalise,
                  "%0 = input \"x\" : f32[n, 6]\n%1 = constant i64[3] [-1, 2, 3]\n%2 = reshape(%0, %1)\n"
                  "%3 = constant i64[2] [-1, 3]\n%4 = reshape(%2, %3)\noutput \"y\" = %4\n"),
            graph("  %0 = input \"x\" : f32[n, 6]\n  %1 = constant i64[2] [-1, 3]\n"
                  "  %2 = reshape(%0, %1) : f32[2*n, 3]\n  output \"y\" = %2\n"));
}

TEST(CanonicaliseTest, PutsConstantsSecond) {
  EXPECT_EQ(
      after(canonicalise,
            "%0 = input \"x\" : f32[2]\n%1 = constant f32[] [3]\n%2 = add(%1, %0)\noutput \"y\" = %2\n"),
      graph("  %0 = input \"x\" : f32[2]\n  %1 = constant f32[] [3]\n  %2 = add(%0, %1) : f32[2]\n"
            "  output \"y\" = %2\n"));
}

TEST(CanonicaliseTest, KeepsAddingZeroSinceItChangesNegativeZero) {
  const std::string text = graph(
      "  %0 = input \"x\" : f32[2]\n  %1 = constant f32[] [0]\n  %2 = add(%0, %1) : f32[2]\n  output \"y\" = "
      "%2\n");
  EXPECT_EQ(print(canonicalise(parse_graph(text))), text);
}

TEST(MergeDuplicatesTest, ComputesEqualNodesOnce) {
  EXPECT_EQ(
      after(merge_duplicates,
            "%0 = input \"x\" : f32[2]\n%1 = exp(%0)\n%2 = exp(%0)\n%3 = add(%1, %2)\noutput \"y\" = %3\n"),
      graph("  %0 = input \"x\" : f32[2]\n  %1 = exp(%0) : f32[2]\n  %2 = add(%1, %1) : f32[2]\n"
            "  output \"y\" = %2\n"));
}

TEST(PipelineTest, SkipsAPassByName) {
  Graph g = parse_graph("graph \"g\" { %0 = constant f32[1] [1] %1 = exp(%0) output \"y\" = %1 }");
  EXPECT_EQ(run_pipeline(g).nodes().size(), 1u);
  EXPECT_EQ(run_pipeline(g, {.disabled = {"fold_constants"}}).nodes().size(), 2u);
}

TEST(PipelineTest, SkipsEachOccurrenceOfAPass) {
  Graph g = parse_graph("graph \"g\" { %0 = input \"x\" : f32[1] output \"y\" = %0 }");
  std::vector<std::string_view> ran;
  (void)run_pipeline(g, {.disabled = {"canonicalise"},
                         .after = [&](const PassTime& t, const Graph&) { ran.push_back(t.name); }});
  EXPECT_EQ(std::ranges::count(ran, "canonicalise"), 0);
  EXPECT_EQ(std::ranges::count(ran, "fold_constants"),
            std::ranges::count(pipeline(), "fold_constants", &Pass::name));
}

TEST(PipelineTest, NamesThePassesWhenOneIsUnknown) {
  Graph g = parse_graph("graph \"g\" { %0 = input \"x\" : f32[1] output \"y\" = %0 }");
  try {
    (void)run_pipeline(g, {.disabled = {"fold"}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("one of fold_constants, simplify_shapes"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace ingot
