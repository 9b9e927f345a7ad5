#include "engine/refit_table.h"

#include <gtest/gtest.h>

#include "engine/header.h"
#include "engine/test_engines.h"
#include "ingot/error.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

// A weight used twice, a scale, and constants that are none: a scalar, sizes, an importer's own, one unread.
constexpr std::string_view kText = R"(graph "model" {
  %0 = input "x" : f32[2, 4]
  %1 = constant f32[4] [1, 2, 3, 4] @"w"
  %2 = constant f32[4] [1, 2, 3, 4] @"w"
  %3 = constant f32[] [0.5] @"factor"
  %4 = constant i64[2] [4, 2] @"sizes"
  %5 = constant f32[4] [9, 9, 9, 9] @"unread"
  %6 = constant f32[] [0.25] @"scale"
  %7 = constant u8[] [7] @"zero"
  %8 = mul(%0, %1) : f32[2, 4] @"/mul"
  %9 = add(%8, %2) : f32[2, 4] @"/add"
  %10 = mul(%9, %3) : f32[2, 4] @"/half"
  %11 = quantize(%10, %6, %7) : u8[2, 4] @"/q"
  %12 = reshape(%11, %4) : u8[4, 2] @"/reshape"
  output "y" = %12
})";

std::vector<std::string> names(const std::vector<ModelWeight>& weights) {
  std::vector<std::string> out;
  for (const ModelWeight& w : weights) out.push_back(w.name);
  return out;
}

std::vector<std::string> found(RefitMode mode, const WeightNames& wanted = {}) {
  return names(find_weights(parse_graph(kText), mode, wanted));
}

using Names = std::vector<std::string>;

TEST(RefitTable, WholeFindsTensorsScalesAndZeroPoints) {
  EXPECT_EQ(found(RefitMode::whole), (Names{"scale", "w", "zero"}));
  EXPECT_EQ(found(RefitMode::identical), (Names{"scale", "w", "zero"}));
  EXPECT_EQ(found(RefitMode::whole, {"factor"}), (Names{"factor", "scale", "w", "zero"}));
  EXPECT_EQ(find_weights(parse_graph(kText), RefitMode::whole, {})[1].nodes, (std::vector<int32_t>{1, 2}));
}

TEST(RefitTable, IndividualFindsThoseNamed) {
  EXPECT_EQ(found(RefitMode::individual, {"w"}), (Names{"w"}));
  EXPECT_EQ(found(RefitMode::none), Names{});
}

TEST(RefitTable, RefusesNamesOfNoWeight) {
  for (const char* name : {"absent", "unread", "/mul", "sizes"}) {
    const Error e = thrown_by([&] { found(RefitMode::individual, {name}); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << name;
    EXPECT_EQ(e.parts().name, name);
  }
  EXPECT_EQ(thrown_by([&] { found(RefitMode::none, {"w"}); }).code(), ErrorCode::invalid_argument);
}

TEST(RefitTable, RefusesOneNameForTwoContents) {
  std::string text(kText);
  text.replace(text.find("[1, 2, 3, 4]"), 12, "[1, 2, 3, 5]");
  const Error e = thrown_by([&] { find_weights(parse_graph(text), RefitMode::whole, {}); });
  EXPECT_EQ(e.parts().name, "w");
  EXPECT_EQ(e.parts().observed, "two of different content");
}

TEST(RefitTable, HiddenWeightsAreInputsAndComeBack) {
  const Graph model = parse_graph(kText);
  const auto weights = find_weights(model, RefitMode::whole, {});
  const Graph hidden = hide_weights(model, weights);
  EXPECT_EQ(hidden.inputs().size(), 4u);
  std::vector<RefitWeight> table;
  const Graph back = restore_weights(hidden, weights, table);
  ASSERT_EQ(table.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(table[i].name, weights[i].name);
    ASSERT_EQ(table[i].nodes.size(), 1u) << "constants of one weight become one";
    const Node& node = back.nodes()[static_cast<size_t>(table[i].nodes[0])];
    EXPECT_EQ(node.origin, table[i].name);
    EXPECT_TRUE(node.as<ConstantAttrs>().value.identical(weights[i].value));
  }
  EXPECT_EQ(back.inputs().size(), 1u);
}

TEST(RefitTable, StructureIsThatOfTheModelWithoutItsWeights) {
  auto structure = [](std::string text, std::string_view old, std::string_view with) {
    for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size()))
      text.replace(at, old.size(), with);
    const Graph model = parse_graph(text);
    return structure_of(hide_weights(model, find_weights(model, RefitMode::whole, {})));
  };
  const std::string text(kText);
  const Digest own = structure(text, "same", "same");
  EXPECT_EQ(structure(text, "[1, 2, 3, 4]", "[4, 3, 2, 1]"), own) << "weights do not count";
  EXPECT_EQ(structure(text, "graph \"model\"", "graph \"other\""), own) << "names neither";
  EXPECT_NE(structure(text, "[0.5]", "[0.75]"), own) << "constants that are no weights do";
  EXPECT_NE(structure(text, "add(", "sub("), own);
}

EngineContent refittable() {
  EngineContent content;
  const Graph model = parse_graph(kText);
  const auto weights = find_weights(model, RefitMode::individual, {"w", "scale"});
  const Graph hidden = hide_weights(model, weights);
  content.refit = RefitMode::individual;
  content.structure = structure_of(hidden);
  content.graph = restore_weights(hidden, weights, content.weights);
  return content;
}

TEST(RefitTable, SurvivesTheFile) {
  const EngineContent content = refittable();
  const std::vector<std::byte> bytes = engine_bytes(content);
  const EngineContent back = read_engine(bytes, nullptr, "test");
  EXPECT_EQ(back.refit, RefitMode::individual);
  EXPECT_EQ(back.structure, content.structure);
  ASSERT_EQ(back.weights.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back.weights[i].name, content.weights[i].name);
    EXPECT_EQ(back.weights[i].nodes, content.weights[i].nodes);
  }
  EXPECT_TRUE(decode_header(bytes).flags & kRefittable);
}

// Tables that no writer makes; the file is sound otherwise.
TEST(RefitTable, ReadersRefuseTablesThatLie) {
  const std::vector<std::function<void(EngineContent&)>> lies = {
      [](EngineContent& c) { c.refit = static_cast<RefitMode>(4); },
      [](EngineContent& c) { c.weights[0].name = ""; },
      [](EngineContent& c) { c.weights[1].name = c.weights[0].name; },
      [](EngineContent& c) { std::swap(c.weights[0], c.weights[1]); },
      [](EngineContent& c) { c.weights[0].nodes = {}; },
      [](EngineContent& c) { c.weights[0].nodes = {-1}; },
      [](EngineContent& c) { c.weights[0].nodes = {1000}; },
      [](EngineContent& c) { c.weights[0].nodes = {0}; },  // the input
      [](EngineContent& c) { c.weights[0].nodes = c.weights[1].nodes; },
      [](EngineContent& c) { c.weights[0].nodes.push_back(c.weights[1].nodes[0]), c.weights.pop_back(); },
  };
  for (size_t i = 0; i < lies.size(); ++i) {
    EngineContent content = refittable();
    lies[i](content);
    const std::vector<std::byte> bytes = engine_bytes(content);
    EXPECT_EQ(thrown_by([&] { read_engine(bytes, nullptr, "test"); }).code(), ErrorCode::corrupt) << i;
  }
}

}  // namespace
}  // namespace ingot
