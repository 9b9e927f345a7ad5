#include "passes/gather_early.h"

#include <gtest/gtest.h>

#include "device/reference/evaluate.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/remove_dead_code.h"

namespace ingot {
namespace {

Graph parsed(const std::string& body) { return parse_graph("graph \"g\" {\n" + body + "}"); }

std::string after(const std::string& body) { return print(remove_dead_code(gather_early(parsed(body)))); }

const std::string kTable =
    "%0 = input \"i\" : i64[b, n]\n%1 = constant i8[3, 2] [1, 2, 3, 4, 5, 6]\n"
    "%2 = constant f32[3, 1] [0.5, 0.25, 2]\n%3 = constant f32[2] [10, 20]\n%4 = cast(%1) {to = f32}\n"
    "%5 = mul(%4, %2)\n%6 = add(%5, %3)\n";

TEST(GatherEarlyTest, TakesRowsOfTheConstants) {
  const std::string text = after(kTable + "%7 = gather(%6, %0)\noutput \"y\" = %7\n");
  EXPECT_NE(text.find("= gather(%1, %0) : i8[b, n, 2]"), std::string::npos) << text;
  EXPECT_NE(text.find(": f32[b, n, 1]"), std::string::npos) << text;  // the scales, by row
  EXPECT_EQ(text.find("gather(%3"), std::string::npos) << text;       // the offsets, the same for all
  EXPECT_LT(text.find("gather"), text.find("cast")) << text;
}

TEST(GatherEarlyTest, ChangesNoBit) {
  const Graph graph = parsed(kTable + "%7 = gather(%6, %0) {axis = -2}\noutput \"y\" = %7\n");
  const std::vector<Datum> inputs = {Tensor::of<int64_t>({2, 2}, {2, 0, -1, 1})};
  const Tensor expected = Tensor::of<float>({2, 2, 2}, {20, 32, 10.5, 21, 20, 32, 10.75, 21});
  for (const Graph& g : {graph, gather_early(graph)})
    EXPECT_TRUE(reference::evaluate(g, inputs).at(0).tensor().identical(expected)) << print(g);
}

TEST(GatherEarlyTest, OtherAxesAndInputsStay) {
  for (const char* rest :
       {"%7 = gather(%6, %0) {axis = 1}\noutput \"y\" = %7\n",
        "%7 = input \"x\" : f32[3, 2]\n%8 = mul(%6, %7)\n%9 = gather(%8, %0)\noutput \"y\" = %9\n"}) {
    const std::string text = after(kTable + rest);
    EXPECT_GT(text.find("gather"), text.find("add")) << text;
  }
}

}  // namespace
}  // namespace ingot
