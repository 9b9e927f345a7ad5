#include "passes/order_nodes.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace ingot {
namespace {

std::string ordered(const std::string& body) {
  return print(order_nodes(parse_graph("graph \"g\" {\n" + body + "}")));
}

TEST(OrderNodesTest, OperandsComeLeftToRightBeforeTheirNode) {
  EXPECT_EQ(ordered("%0 = input \"x\" : f32[2]\n%1 = tanh(%0)\n%2 = input \"y\" : f32[2]\n%3 = exp(%2)\n"
                    "%4 = sub(%3, %1)\n%5 = relu(%0)\noutput \"b\" = %4\noutput \"a\" = %5\n"),
            "graph \"g\" {\n  %0 = input \"x\" : f32[2]\n  %1 = input \"y\" : f32[2]\n"
            "  %2 = exp(%1) : f32[2]\n  %3 = tanh(%0) : f32[2]\n  %4 = sub(%2, %3) : f32[2]\n"
            "  %5 = relu(%0) : f32[2]\n  output \"b\" = %4\n  output \"a\" = %5\n}\n");
}

TEST(OrderNodesTest, MadeUpSizesAreNamedInThatOrder) {
  const std::string first = ordered(
      "%0 = input \"x\" : f32[n]\n%1 = exp(%0)\n%2 = non_zero(%0)\n%3 = non_zero(%1)\n"
      "output \"a\" = %2\noutput \"b\" = %3\n");
  const std::string second = ordered(
      "%0 = input \"x\" : f32[n]\n%1 = exp(%0)\n%2 = non_zero(%1)\n%3 = non_zero(%0)\n"
      "output \"a\" = %3\noutput \"b\" = %2\n");
  EXPECT_EQ(first, second);
}

TEST(OrderNodesTest, NodesThatNothingReadsStayAtTheEnd) {
  EXPECT_EQ(ordered("%0 = input \"x\" : f32[2]\n%1 = tanh(%0)\n%2 = exp(%0)\noutput \"y\" = %2\n"),
            "graph \"g\" {\n  %0 = input \"x\" : f32[2]\n  %1 = exp(%0) : f32[2]\n"
            "  %2 = tanh(%0) : f32[2]\n  output \"y\" = %1\n}\n");
}

// Runs of one node per value, deeper than a call stack would allow.
TEST(OrderNodesTest, LongChainsNeedNoStack) {
  GraphBuilder g("chain");
  Value v = g.input("x", Type::tensor(DType::f32, {2}));
  for (int i = 0; i < 30'000; ++i) v = g.neg(v);
  g.output("y", v);
  EXPECT_EQ(order_nodes(std::move(g).finish()).nodes().size(), 30'001u);
}

// A loop whose body reads a value of unknown size, built with its nodes and made-up sizes in one of two
// orders.
Graph with_body(bool swapped) {
  GraphBuilder g("outer");
  g.set_metadata("licence", "none");
  Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n")}));
  Value a, b;
  g.set_origin("pair");
  if (swapped) b = g.non_zero(g.exp(x));
  a = g.non_zero(x);
  if (!swapped) b = g.non_zero(g.exp(x));

  GraphBuilder body("body");
  body.input("i", Type::tensor(DType::i64, {}));
  Value go = body.input("go", Type::tensor(DType::boolean, {}));
  Value state = body.input("state", Type::tensor(DType::f32, {Dim::symbol("n")}));
  Value p = body.input("p", g.type(a)), q = body.input("q", g.type(b));
  Value left, right;
  if (swapped) right = body.reduce_sum(q, {}, {.keep_dims = false});
  left = body.reduce_sum(p, {}, {.keep_dims = false});
  if (!swapped) right = body.reduce_sum(q, {}, {.keep_dims = false});
  Value step = body.cast(body.sub(left, right), {.to = DType::f32});
  body.output("go", go);
  body.output("state", body.add(state, step));
  body.output("rows", body.non_zero(state));
  auto finished = std::make_shared<const Graph>(std::move(body).finish());
  Value trips = g.constant(Tensor::of<int64_t>({}, {3}));
  auto results = g.loop(trips, {}, {x}, finished, {a, b});
  g.output("y", results[0]);
  return std::move(g).finish();
}

TEST(OrderNodesTest, BodiesAreOrderedAndTheirSizesNamedToo) {
  Graph one = with_body(false), two = with_body(true);
  ASSERT_NE(print(one), print(two));
  EXPECT_EQ(print(order_nodes(one)), print(order_nodes(two)));
  EXPECT_NO_THROW(verify(order_nodes(one)));
  const Graph ordered = order_nodes(two);
  EXPECT_EQ(ordered.metadata().at("licence"), "none");
  EXPECT_EQ(ordered.node(ordered.outputs()[0].value).origin, "pair");
}

TEST(OrderNodesTest, IsItsOwnFixedPoint) {
  Graph once = order_nodes(with_body(true));
  EXPECT_EQ(print(order_nodes(once)), print(once));
}

TEST(OrderNodesTest, AlwaysRuns) {
  try {
    (void)run_pipeline(with_body(false), {.disabled = {"order_nodes"}});
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("a pass that always runs"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace ingot
