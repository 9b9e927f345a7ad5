#include "passes/simplify_shapes.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "passes/remove_dead_code.h"

namespace ingot {
namespace {

std::string simple(const std::string& body) {
  return print(remove_dead_code(simplify_shapes(parse_graph("graph \"g\" {\n" + body + "}"))));
}

// As PyTorch writes x.view(n, s, 2, 3).
const std::string kView =
    "%0 = input \"x\" : f32[n, s, 6]\n%1 = exp(%0)\n%2 = shape_of(%1)\n%3 = constant i64[] [0]\n"
    "%4 = gather(%2, %3)\n%5 = constant i64[1] [0]\n%6 = unsqueeze(%4, %5)\n%7 = constant i64[] [1]\n"
    "%8 = gather(%2, %7)\n%9 = unsqueeze(%8, %5)\n%10 = constant i64[2] [2, 3]\n%11 = concat(%6, %9, %10)\n"
    "%12 = reshape(%1, %11)\noutput \"y\" = %12\n";

TEST(SimplifyShapesTest, ComputedSizesBecomeCopies) {
  EXPECT_EQ(simple(kView),
            "graph \"g\" {\n  %0 = input \"x\" : f32[n, s, 6]\n  %1 = exp(%0) : f32[n, s, 6]\n"
            "  %2 = constant i64[4] [0, 0, 2, 3]\n  %3 = reshape(%1, %2) : f32[n, s, 2, 3]\n  output \"y\" = "
            "%3\n}\n");
}

TEST(SimplifyShapesTest, SizesAreReadFromTheFirstValueThatHasThem) {
  EXPECT_EQ(simple("%0 = input \"x\" : f32[n, s, 6]\n%1 = exp(%0)\n%2 = shape_of(%1)\noutput \"y\" = %2\n"),
            "graph \"g\" {\n  %0 = input \"x\" : f32[n, s, 6]\n  %1 = shape_of(%0) {end = 2} : i64[2]\n"
            "  %2 = constant i64[1] [6]\n  %3 = concat(%1, %2) : i64[3]\n  output \"y\" = %3\n}\n");
}

// -1 cannot be told beside an axis that may be empty.
TEST(SimplifyShapesTest, TakesTheRestOnlyBesideSizesAboveZero) {
  const std::string body =
      "%0 = input \"x\" : f32[n, s, 6]\n%1 = shape_of(%0) {end = 1}\n%2 = shape_of(%0) {start = 1, end = 2}\n"
      "%3 = constant i64[1] [6]\n%4 = mul(%2, %3)\n%5 = concat(%1, %4)\n%6 = reshape(%0, %5)\noutput \"y\" = "
      "%6\n";
  EXPECT_EQ(simple(body).find("-1"), std::string::npos);
  EXPECT_NE(simple("symbol n in [1, 8]\n" + body).find("constant i64[2] [0, -1]"), std::string::npos);
}

TEST(SimplifyShapesTest, PassActs) {
  Graph g = parse_graph("graph \"g\" {\n" + kView + "}");
  EXPECT_EQ(run_pipeline(g).nodes().size(), 4u);
  EXPECT_GT(run_pipeline(g, {.disabled = {"simplify_shapes"}}).nodes().size(), 4u);
}

}  // namespace
}  // namespace ingot
