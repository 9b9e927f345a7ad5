#include "ir/cost.h"

namespace ingot {
namespace {

Type f32(Dims dims) { return Type::tensor(DType::f32, std::move(dims)); }

TEST(Cost, CountsMatrixProducts) {
  const Dim batch = Dim::symbol("batch");
  GraphBuilder g;
  const Value x = g.input("x", f32({batch, 8, 16}));
  const Value y = g.matmul(x, g.constant(Tensor::allocate(DType::f32, {16, 32})));
  g.output("y", g.relu(y));
  const Graph graph = std::move(g).finish();
  EXPECT_EQ(graph_cost(graph).multiply_adds, batch * 8 * 16 * 32);
  EXPECT_EQ(graph_cost(graph).other, batch * 8 * 32);
  EXPECT_EQ(graph_cost(graph).flops(), batch * (2 * 8 * 16 * 32 + 8 * 32));
  EXPECT_EQ(parameter_count(graph), 16 * 32);
}

// AlexNet's second convolution as in the literature: 2 groups of 48 -> 128 channels, 5x5 on 27x27.
TEST(Cost, CountsGroupedConvolutions) {
  GraphBuilder g;
  const Value x = g.input("x", f32({1, 96, 27, 27}));
  const Value w = g.input("w", f32({256, 48, 5, 5}));
  ConvAttrs attrs;
  attrs.pads = {2, 2, 2, 2};
  attrs.group = 2;
  g.output("y", g.conv(x, w, {}, attrs));
  const Cost cost = graph_cost(std::move(g).finish());
  EXPECT_EQ(cost.multiply_adds, Dim(int64_t{27} * 27 * 256 * 48 * 25));
  EXPECT_TRUE(cost.complete);
}

TEST(Cost, CountsTransposedConvolutionsByTheirInput) {
  GraphBuilder g;
  const Value x = g.input("x", f32({1, 4, 10}));
  const Value w = g.input("w", f32({4, 6, 3}));
  ConvTransposeAttrs attrs;
  attrs.strides = {2};
  g.output("y", g.conv_transpose(x, w, {}, attrs));
  EXPECT_EQ(graph_cost(std::move(g).finish()).multiply_adds, Dim(4 * 10 * 6 * 3));
}

TEST(Cost, SaysWhenARankIsUnknown) {
  GraphBuilder g;
  g.output("y", g.relu(g.input("x", Type::unranked(DType::f32))));
  EXPECT_FALSE(graph_cost(std::move(g).finish()).complete);
}

}  // namespace
}  // namespace ingot
