#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

TEST(Engine, TellsItsPorts) {
  auto engine = open_graph(affine_graph());
  ASSERT_EQ(engine->inputs().size(), 2u);
  EXPECT_EQ(engine->inputs()[1].name, "z");
  EXPECT_EQ(to_string(engine->input("x").type), "f32[batch, 3]");
  EXPECT_EQ(to_string(engine->output("y").type), "f32[batch, 3]");
  EXPECT_EQ(engine->metadata().at("labels"), "cat,dog");
  EXPECT_TRUE(engine->profiles().empty());
  EXPECT_TRUE(engine->input("x").ranges.empty());
}

TEST(Engine, UnknownNamesSayWhichExist) {
  auto engine = open_graph(affine_graph());
  Error input = thrown_by([&] { engine->input("y"); });
  EXPECT_EQ(input.code(), ErrorCode::not_found);
  EXPECT_STREQ(input.what(),
               "input 'y': expected one of 'x', 'z'."
               " Names must match exactly, with case and slashes.");
  EXPECT_STREQ(thrown_by([&] { engine->output("x"); }).what(),
               "output 'x': expected one of 'y'."
               " Names must match exactly, with case and slashes.");
}

TEST(Engine, ProfilesGiveTheRangesOfInputs) {
  const std::vector<Profile> profiles = {
      {"small", {}, {{"batch", {1, 2, 4}}}},
      {"exact", {{"x", {{5, 3}, {5, 3}, {5, 3}}}}, {}},
      {"open", {}, {}},
  };
  auto engine = open_graph(affine_graph(), profiles);
  ASSERT_EQ(engine->profiles(), profiles);
  const std::vector<ShapeRange> x = {
      {{1, 3}, {2, 3}, {4, 3}}, {{5, 3}, {5, 3}, {5, 3}}, {{1, 3}, {1, 3}, {8, 3}}};
  EXPECT_EQ(engine->input("x").ranges, x);
  EXPECT_EQ(engine->input("z").ranges, x) << "it shares the dimension";
}

TEST(Engine, CountsContextsAndInferences) {
  auto engine = open_graph(affine_graph());
  auto first = engine->create_context();
  auto second = engine->create_context("camera");
  EXPECT_EQ(first->name(), "context 1");
  EXPECT_EQ(second->name(), "camera");
  const Tensor one = Tensor::of<float>({1, 3}, {1, 1, 1});
  second->run({{"x", one}, {"z", one}});
  EXPECT_EQ(engine->stats().contexts_created, 2u);
  EXPECT_EQ(engine->stats().inferences, 1u);
  EXPECT_GT(engine->stats().file_bytes, 0u);
}

}  // namespace
}  // namespace ingot
