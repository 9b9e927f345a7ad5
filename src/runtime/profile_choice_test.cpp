// Profiles chosen by the shapes.
#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

const std::vector<Profile> kProfiles = {{"small", {}, {{"batch", {1, 1, 2}}}},
                                        {"large", {}, {{"batch", {4, 4, 8}}}}};

void set_batch(Context& context, int64_t batch) {
  context.set_shape("x", {batch, 3});
  context.set_shape("z", {batch, 3});
}

TEST(ProfileChoice, ShapesChooseTheProfileWhereAsked) {
  auto context = open_graph(affine_graph(), kProfiles)->create_context();
  context->set_automatic_profile();
  const Floats x(24, 2), z(24, 1);
  Floats y(24);
  Stream stream;
  for (const auto& [batch, profile] : {std::pair<int64_t, size_t>{2, 0}, {8, 1}, {1, 0}}) {
    set_batch(*context, batch);
    EXPECT_EQ(context->profile(), profile);
    const size_t count = static_cast<size_t>(batch) * 3;
    context->bind_input("x", std::span(x).first(count));
    context->bind_input("z", std::span(z).first(count));
    context->bind_output("y", std::span(y).first(count));
    context->enqueue(stream);
    stream.synchronize();
    EXPECT_EQ(context->result_shape("y"), (Shape{batch, 3}));
    EXPECT_EQ(Floats(y.begin(), y.begin() + 3), (Floats{21, 41, 61}));
  }
}

TEST(ProfileChoice, ShapesOfNoProfileAreRefused) {
  auto context = open_graph(affine_graph(), kProfiles)->create_context();
  context->set_automatic_profile();
  set_batch(*context, 1);
  const Error e = thrown_by([&] { context->set_shape("x", {3, 3}); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(
      e.parts().expected,
      "a shape from [1, 3] to [2, 3], by profile 0 'small', or from [4, 3] to [8, 3], by profile 1 'large'");
  EXPECT_EQ(context->shape("x"), (Shape{1, 3})) << "a refused shape changes nothing";
  context->set_profile(1);
  EXPECT_EQ(thrown_by([&] {
              context->set_shape("x", {2, 3});
            }).code(),
            ErrorCode::invalid_argument)
      << "by hand again";
}

// The block of a context that holds the memory of one profile follows.
TEST(ProfileChoice, MemoryFollowsTheProfile) {
  auto engine = open_graph(affine_graph(), kProfiles);
  auto context = engine->create_context(ContextOptions{.allocation = AllocationStrategy::on_profile_change});
  context->set_automatic_profile();
  for (const auto& [batch, profile] : {std::pair<int64_t, size_t>{8, 1}, {1, 0}}) {
    set_batch(*context, batch);
    EXPECT_EQ(context->profile(), profile);
    EXPECT_EQ(context->stats().memory_bytes, engine->memory_size(profile));
  }
}

TEST(ProfileChoice, ShapesThatNoProfileAllowsTogetherAreNamed) {
  GraphBuilder g("pair");
  for (const char* name : {"a", "b"})
    g.output(std::string(name) + "_out",
             g.relu(g.input(name, Type::tensor(DType::f32, {Dim::symbol(std::string("n") + name, 1, 8)}))));
  const std::vector<Profile> profiles = {{"left", {}, {{"na", {1, 2, 2}}, {"nb", {4, 4, 4}}}},
                                         {"right", {}, {{"na", {4, 4, 4}}, {"nb", {1, 2, 2}}}}};
  auto context = open_graph(std::move(g).finish(), profiles)->create_context();
  context->set_automatic_profile();
  context->set_shape("a", {1});
  context->set_shape("b", {2});
  const Error e = thrown_by([&] { context->profile(); });
  EXPECT_EQ(e.parts().observed, "'a' [1] of profiles 0; 'b' [2] of profiles 1");
  context->set_shape("a", {4});
  EXPECT_EQ(context->profile(), 1u);
}

}  // namespace
}  // namespace ingot
