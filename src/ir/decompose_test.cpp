#include "ir/decompose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op_info.h"

namespace ingot {
namespace {

TEST(Decomposition, ExistsForCompositeOpsAndNoOthers) {
  for (const OpInfo& info : all_ops())
    EXPECT_EQ(find_decomposition(info.op) != nullptr, info.is(Composite)) << info.name;
}

const Dim kBatch = Dim::symbol("batch", 1), kTokens = Dim::symbol("tokens", 1),
          kPast = Dim::symbol("past", 1);

Type f32(Dims dims) { return Type::tensor(DType::f32, std::move(dims)); }
Type f16(Dims dims) { return Type::tensor(DType::f16, std::move(dims)); }
Type i64(Dims dims) { return Type::tensor(DType::i64, std::move(dims)); }
Type i32(Dims dims) { return Type::tensor(DType::i32, std::move(dims)); }

template <class A>
A recurrent(size_t activations, Direction direction) {
  A a;
  a.direction = direction;
  size_t count = activations * (direction == Direction::bidirectional ? 2 : 1);
  a.activations.assign(count, "tanh");
  a.alphas.assign(count, 0);
  a.betas.assign(count, 0);
  return a;
}

struct Case {
  std::string name;
  Attrs attrs;
  std::vector<std::optional<Type>> operands;
};

std::vector<Case> cases() {
  Type rows = f16({kBatch, kTokens, 8}), image = f32({kBatch, 6, kTokens, 5});
  Type heads = f16({kBatch, 4, kTokens, 8}), shared = f16({kBatch, 2, kTokens, 8}),
       past = f16({kBatch, 2, kPast, 8});
  Type mask = Type::tensor(DType::boolean, {kBatch, 1, kTokens, kPast + kTokens});
  Type steps = f32({kTokens, kBatch, 3});
  return {
      {"softmax", SoftmaxAttrs{1}, {rows}},
      {"log_softmax", LogSoftmaxAttrs{-1}, {rows}},
      {"layer_norm", LayerNormAttrs{.axis = 1}, {rows, f16({8}), f16({kTokens, 8})}},
      {"rms_norm", RmsNormAttrs{}, {rows, f16({8})}},
      {"batch_norm", BatchNormAttrs{}, {image, f32({6}), f32({6}), f32({6}), f32({6})}},
      {"batch_norm per element",
       BatchNormAttrs{},
       {f32({kBatch, 2, 3}), f32({2, 3}), f32({2, 3}), f32({2, 3}), f32({2, 3})}},
      {"instance_norm", InstanceNormAttrs{}, {image, f32({6}), f32({6})}},
      {"group_norm", GroupNormAttrs{3}, {image, f32({6}), f32({6})}},
      {"lp_norm", LpNormAttrs{.axis = 1, .p = 1}, {rows}},
      {"lrn", LrnAttrs{.size = 3}, {image}},
      {"gemm", GemmAttrs{.alpha = 2, .transpose_a = true}, {f32({3, kTokens}), f32({3, 4}), f32({4})}},
      {"einsum", EinsumAttrs{"bti,bsi->bts"}, {f32({kBatch, kTokens, 3}), f32({kBatch, kPast, 3})}},
      {"einsum diagonal", EinsumAttrs{"tibi->bt"}, {f32({kTokens, 3, kBatch, 3})}},
      {"attention",
       AttentionAttrs{.softcap = 2, .causal = true, .window = 3},
       {heads, shared, shared, mask, past, past, i32({kBatch})}},
      {"attention of equal heads", AttentionAttrs{.scores = AttentionScores::weights}, {heads, heads, heads}},
      {"rotary_embedding",
       RotaryEmbeddingAttrs{},
       {heads, f16({99, 3}), f16({99, 3}), i64({kBatch, kTokens})}},
      {"rotary_embedding interleaved",
       RotaryEmbeddingAttrs{true},
       {heads, f16({kBatch, kTokens, 4}), f16({kBatch, kTokens, 4})}},
      {"linear_attention",
       LinearAttentionAttrs{},
       {heads, shared, shared, std::nullopt, f16({kBatch, 2, kTokens, 1}), f16({kBatch, 1, kTokens, 1})}},
      {"causal_conv", CausalConvAttrs{true}, {f32({kBatch, 6, kTokens}), f32({6, 1, 4})}},
      {"rnn", recurrent<RnnAttrs>(1, Direction::reverse), {steps, f32({1, 5, 3}), f32({1, 5, 5})}},
      {"gru",
       recurrent<GruAttrs>(2, Direction::forward),
       {steps, f32({1, 15, 3}), f32({1, 15, 5}), f32({1, 30}), i32({kBatch})}},
      {"lstm", recurrent<LstmAttrs>(3, Direction::bidirectional), {steps, f32({2, 20, 3}), f32({2, 20, 5})}},
  };
}

class SymbolicDecomposition : public ::testing::TestWithParam<Case> {};

// A device that breaks an op apart before sizes are known must find edges of the types that the op promised.
TEST_P(SymbolicDecomposition, GivesTheTypesOfTheOp) {
  const Case& test = GetParam();
  GraphBuilder g;
  std::vector<Value> operands;
  for (const auto& type : test.operands)
    operands.push_back(type ? g.input(fmt::format("{}", operands.size()), *type) : Value());
  auto whole = g.add(test.attrs, operands);
  Node node{test.attrs.op(), operands, test.attrs, {}, {}, {}};
  auto parts = find_decomposition(node.op)(g, node, operands);
  ASSERT_EQ(parts.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(g.rank(parts[i]), g.rank(whole[i])) << "output " << i;
    EXPECT_TRUE(may_be(g.type(whole[i]), g.type(parts[i])))
        << "output " << i << ": " << to_string(g.type(parts[i])) << " for " << to_string(g.type(whole[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, SymbolicDecomposition, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

}  // namespace
}  // namespace ingot
