#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "passes/canonicalise.h"
#include "passes/pipeline.h"
#include "passes/remove_dead_code.h"

namespace ingot {
namespace {

std::string canonical(const std::string& body) {
  return print(remove_dead_code(canonicalise(parse_graph("graph \"g\" {\n" + body + "}"))));
}

const std::string kInput = "  %0 = input \"x\" : f32[n, 6]\n";
const std::string kUnchanged = "graph \"g\" {\n" + kInput + "  output \"y\" = %0\n}\n";

TEST(CanonicaliseMovementTest, DropsWhatKeepsTheShape) {
  for (const char* line : {
           "%1 = constant i64[2] [1, 1] %2 = tile(%0, %1)",
           "%1 = constant i64[4] [0, 0, 0, 0] %2 = pad(%0, %1)",
           "%1 = constant i64[2] [1, 6] %2 = broadcast_to(%0, %1)",
           "%1 = constant i64[1] [0] %3 = constant i64[1] [9] %4 = constant i64[1] [1] %2 = slice(%0, %1, "
           "%3, %4)",
           "%1 = constant i64[1] [1] %3 = unsqueeze(%0, %1) %2 = squeeze(%3, %1)",
           "%1 = constant i64[3] [0, 2, 3] %3 = reshape(%0, %1) %4 = constant i64[2] [-1, 6] %2 = "
           "reshape(%3, %4)",
           "%2 = concat(%0) {axis = 1}",
           "%1 = constant i64[1] [0] %3 = constant i64[1] [100000000000000] %2 = slice(%0, %1, %3, %1)",
       })
    EXPECT_EQ(canonical(kInput + line + "\noutput \"y\" = %2\n"), kUnchanged) << line;
}

// A slice that walks backwards keeps the shape and turns the order around.
TEST(CanonicaliseMovementTest, KeepsWhatMovesElements) {
  for (const char* line : {
           "%1 = constant i64[1] [-1] %3 = constant i64[1] [-9] %4 = constant i64[1] [1] "
           "%2 = slice(%0, %3, %1, %4, %1)",
           "%1 = constant i64[1] [0] %3 = constant i64[1] [1000000000] %2 = slice(%0, %1, %3, %1)",
           "%1 = constant i64[4] [0, 1, 0, -1] %2 = pad(%0, %1)",
           "%1 = transpose(%0) %3 = constant i64[2] [-1, 6] %2 = reshape(%1, %3)",
       })
    EXPECT_NE(canonical(kInput + line + "\noutput \"y\" = %2\n"), kUnchanged) << line;
}

TEST(CanonicaliseMovementTest, SoftmaxOfRowsNeedsNoRows) {
  EXPECT_EQ(canonical("%0 = input \"x\" : f32[n, t, 6]\n%1 = constant i64[2] [-1, 6]\n%2 = reshape(%0, %1)\n"
                      "%3 = softmax(%2)\n%4 = shape_of(%0)\n%5 = reshape(%3, %4)\noutput \"y\" = %5\n"),
            "graph \"g\" {\n  %0 = input \"x\" : f32[n, t, 6]\n  %1 = softmax(%0) {axis = 2} : f32[n, t, 6]\n"
            "  output \"y\" = %1\n}\n");
}

TEST(CanonicaliseMovementTest, PassActs) {
  Graph g = parse_graph(
      "graph \"g\" { %0 = input \"x\" : f32[2, 3] %1 = transpose(%0) %2 = transpose(%1) output \"y\" = %2 }");
  EXPECT_EQ(run_pipeline(g).nodes().size(), 1u);
  EXPECT_EQ(run_pipeline(g, {.disabled = {"canonicalise"}}).nodes().size(), 3u);
}

}  // namespace
}  // namespace ingot
