#include <gtest/gtest.h>

#include "import/onnx/graph_importer.h"
#include "import/onnx/messages.h"
#include "support/thrown_by.h"

// Forms of ops that the ONNX cases do not reach, and what importers say of nodes that break the rules. Graphs
// of one node are made by hand: no library of today writes these opsets.
namespace ingot {
namespace {

struct Input {
  DType dtype;
  std::vector<int64_t> dims;
};

int32_t onnx_number(DType dtype) {
  for (int32_t number = 1; number < 27; ++number)
    if (number != 14 && number != 15 && dtype_from_onnx(number, "") == dtype) return number;
  return 0;
}

OnnxAttribute integer(std::string_view name, int64_t value) {
  OnnxAttribute a;
  a.name = name;
  a.type = OnnxAttributeType::int64;
  a.i = value;
  return a;
}

OnnxAttribute text(std::string_view name, std::string_view value) {
  OnnxAttribute a;
  a.name = name;
  a.type = OnnxAttributeType::string;
  a.s = value;
  return a;
}

OnnxAttribute real(std::string_view name, float value) {
  OnnxAttribute a;
  a.name = name;
  a.type = OnnxAttributeType::float32;
  a.f = value;
  return a;
}

class OneNode {
 public:
  OneNode(std::string_view op, int64_t opset, std::vector<OnnxAttribute> attributes = {},
          std::string_view domain = "")
      : opset_(opset), domain_(domain) {
    node_.op_type = op;
    node_.domain = domain;
    node_.outputs = {"y"};
    node_.attributes = std::move(attributes);
  }

  Graph import(const std::vector<Input>& inputs) {
    constexpr std::string_view kNames[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < inputs.size(); ++i) {
      OnnxType type;
      type.kind = OnnxType::Kind::tensor;
      type.elem_type = onnx_number(inputs[i].dtype);
      type.shape.emplace();
      for (int64_t d : inputs[i].dims) type.shape->push_back({d, {}});
      model_.graph.inputs.push_back({kNames[i], type});
      node_.inputs.push_back(kNames[i]);
    }
    model_.graph.nodes = {node_};
    model_.graph.outputs = {{"y", {}}};
    OnnxModelContext context{model_, {"hand-made", nullptr, nullptr}, {}};
    return OnnxGraphImporter(context, {{domain_, opset_}}, {}, 0).import_main(model_.graph);
  }

  std::string type(const std::vector<Input>& inputs) {
    Graph g = import(inputs);
    return to_string(g.type(g.outputs().at(0).value));
  }

 private:
  int64_t opset_;
  std::string_view domain_;
  OnnxNode node_;
  OnnxModel model_;
};

constexpr DType kFloat = DType::f32;

// Whether any node of the graph is `op`.
bool has(const Graph& g, Op op) {
  return std::ranges::any_of(g.nodes(), [&](const Node& n) { return n.op == op; });
}

TEST(OldOpsets, BroadcastAxisPlacesTheSecondOperand) {
  std::vector<Input> inputs = {{kFloat, {2, 3, 4}}, {kFloat, {3}}};
  EXPECT_EQ(OneNode("Add", 6, {integer("broadcast", 1), integer("axis", 1)}).type(inputs), "f32[2, 3, 4]");
  EXPECT_EQ(OneNode("Less", 1, {integer("broadcast", 1), integer("axis", -2)}).type(inputs), "bool[2, 3, 4]");
  Error e = thrown_by([&] { OneNode("Add", 7).type(inputs); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
}

TEST(OldOpsets, BroadcastAxisOutsideIsRefused) {
  for (int64_t axis : {3, -4}) {
    Error e = thrown_by([&] {
      OneNode("Mul", 6, {integer("broadcast", 1), integer("axis", axis)})
          .type({{kFloat, {2, 3, 4}}, {kFloat, {3}}});
    });
    EXPECT_EQ(e.code(), ErrorCode::corrupt) << axis;
    EXPECT_NE(std::string(e.what()).find("'axis'"), std::string::npos) << e.what();
  }
}

TEST(OldOpsets, CastSpellsItsType) {
  EXPECT_EQ(OneNode("Cast", 1, {text("to", "FLOAT16")}).type({{kFloat, {2}}}), "f16[2]");
  EXPECT_EQ(OneNode("Cast", 6, {integer("to", 7)}).type({{kFloat, {2}}}), "i64[2]");
  EXPECT_EQ(thrown_by([] {
              OneNode("Cast", 1, {text("to", "WORD")}).type({{kFloat, {2}}});
            }).code(),
            ErrorCode::corrupt);
}

TEST(OldOpsets, ClipBoundsWereAttributes) {
  EXPECT_TRUE(has(OneNode("Clip", 6, {real("min", 0), real("max", 6)}).import({{kFloat, {2}}}), Op::Clamp));
  EXPECT_TRUE(has(OneNode("Clip", 10, {real("max", 6)}).import({{kFloat, {2}}}), Op::Min));
  EXPECT_FALSE(has(OneNode("Clip", 6).import({{kFloat, {2}}}), Op::Clamp));
}

TEST(OldOpsets, PreluSlopesBelongToChannels) {
  EXPECT_EQ(OneNode("PRelu", 6).type({{kFloat, {2, 3, 4, 5}}, {kFloat, {3}}}), "f32[2, 3, 4, 5]");
  EXPECT_EQ(OneNode("PRelu", 9).type({{kFloat, {2, 3, 4, 5}}, {kFloat, {5}}}), "f32[2, 3, 4, 5]");
}

TEST(OldOpsets, DropoutDropsOnlyInTraining) {
  std::vector<Input> x = {{kFloat, {2, 3}}};
  EXPECT_FALSE(has(OneNode("Dropout", 6, {integer("is_test", 1)}).import(x), Op::RandomUniform));
  EXPECT_TRUE(has(OneNode("Dropout", 6).import(x), Op::RandomUniform));
  EXPECT_FALSE(has(OneNode("Dropout", 7).import(x), Op::RandomUniform));
  EXPECT_FALSE(has(OneNode("Dropout", 13).import(x), Op::RandomUniform));
}

TEST(BadNodes, NameTheAttributeThatIsMissing) {
  Error e = thrown_by([] { OneNode("BitShift", 11).type({{DType::u8, {2}}, {DType::u8, {2}}}); });
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
  EXPECT_NE(std::string(e.what()).find("direction"), std::string::npos) << e.what();
  EXPECT_EQ(thrown_by([] { OneNode("Add", 14).type({{kFloat, {2}}}); }).code(), ErrorCode::corrupt);
}

TEST(BadNodes, PackedWeightsMustBeConstantAndFit) {
  std::vector<OnnxAttribute> sizes = {integer("N", 4), integer("K", 32), integer("block_size", 16)};
  std::vector<Input> inputs = {{kFloat, {2, 32}}, {DType::u8, {4, 2, 8}}, {kFloat, {8}}};
  EXPECT_EQ(thrown_by([&] { OneNode("MatMulNBits", 1, sizes, "com.microsoft").type(inputs); }).code(),
            ErrorCode::unsupported);
  sizes[1].i = INT64_MAX;
  EXPECT_EQ(thrown_by([&] { OneNode("MatMulNBits", 1, sizes, "com.microsoft").type(inputs); }).code(),
            ErrorCode::corrupt);
}

TEST(RandomSeeds, FollowTheAttributeOrTheName) {
  auto seed = [](std::vector<OnnxAttribute> attributes) {
    Graph g = OneNode("RandomNormalLike", 1, std::move(attributes)).import({{kFloat, {2}}});
    return g.node(g.outputs()[0].value).as<RandomNormalAttrs>().seed;
  };
  EXPECT_EQ(seed({}), seed({}));
  EXPECT_NE(seed({}), seed({real("seed", 1)}));
  EXPECT_NE(seed({real("seed", 2)}), seed({real("seed", 1)}));
}

}  // namespace
}  // namespace ingot
