#include <array>
#include <thread>

#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

// A context of affine_graph() with memory for one batch.
struct Affine {
  explicit Affine(int64_t batch, std::vector<Profile> profiles = {})
      : context(open_graph(affine_graph(), std::move(profiles))->create_context("affine")),
        x(static_cast<size_t>(batch * 3), 2),
        z(x.size(), 1),
        y(x.size()) {}

  void set_shapes(const Shape& shape) {
    context->set_shape("x", shape);
    context->set_shape("z", shape);
  }
  void bind() {
    context->bind_input("x", std::span<const float>(x));
    context->bind_input("z", std::span<const float>(z));
    context->bind_output("y", std::span(y));
  }
  void run() {
    context->enqueue(stream);
    stream.synchronize();
  }

  std::unique_ptr<Context> context;
  Floats x, z, y;
  Stream stream;
};

ErrorCode code_of(const std::function<void()>& call) { return thrown_by(call).code(); }

TEST(Context, RunsOnBoundMemory) {
  Affine a(2);
  a.set_shapes({2, 3});
  a.bind();
  a.run();
  EXPECT_EQ(a.y, (Floats{21, 41, 61, 21, 41, 61}));
  a.x[5] = 0;
  a.run();
  EXPECT_EQ(a.y, (Floats{21, 41, 61, 21, 41, 1}));
  EXPECT_EQ(a.context->stats().completed, 2u);
  EXPECT_GE(a.context->stats().busy_seconds, a.context->stats().last_seconds);
}

TEST(Context, TellsShapesAndBytesAsFarAsKnown) {
  Affine a(2);
  EXPECT_EQ(a.context->shape("x"), std::nullopt);
  EXPECT_EQ(a.context->shape("y"), std::nullopt);
  EXPECT_EQ(code_of([&] { a.context->required_bytes("y"); }), ErrorCode::invalid_argument);
  a.context->set_shape("x", {2, 3});
  EXPECT_EQ(a.context->shape("x"), (Shape{2, 3}));
  EXPECT_EQ(a.context->shape("y"), (Shape{2, 3}));
  EXPECT_EQ(a.context->required_bytes("y"), 24u);
  EXPECT_EQ(code_of([&] { a.context->shape("w"); }), ErrorCode::not_found);
}

TEST(Context, UnknownNames) {
  Affine a(1);
  EXPECT_EQ(code_of([&] { a.context->set_shape("y", {1, 3}); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { a.context->bind_input("y", a.x.data(), 12); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { a.context->bind_output("x", a.y.data(), 12); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { a.context->set_output_allocator("x", nullptr); }), ErrorCode::not_found);
  const Tensor one = Tensor::of<float>({1, 3}, {1, 1, 1});
  EXPECT_STREQ(thrown_by([&] {
                 a.context->run({{"x", one}, {"z", one}, {"q", one}});
               }).what(),
               "input 'q': expected one of 'x', 'z'."
               " Names must match exactly, with case and slashes.");
}

TEST(Context, WrongElementType) {
  Affine a(1);
  std::array<int64_t, 3> integers{};
  Error e = thrown_by([&] { a.context->bind_input("x", std::span<const int64_t>(integers)); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().observed, "memory of i64");
  EXPECT_EQ(code_of([&] { a.context->bind_output("y", std::span<int64_t>(integers)); }),
            ErrorCode::invalid_argument);
  const Tensor one = Tensor::of<int64_t>({1, 3}, {1, 1, 1});
  EXPECT_STREQ(thrown_by([&] {
                 a.context->run({{"x", one}, {"z", one}});
               }).what(),
               "input 'x': expected f32, found i64."
               " Give a value of the type and shape that the graph declares for this input.");
}

TEST(Context, ShapesThatTheTypeExcludes) {
  Affine a(1);
  EXPECT_STREQ(thrown_by([&] {
                 a.context->set_shape("x", {1, 4});
               }).what(),
               "input 'x': expected shape [batch, 3], found shape [1, 4]."
               " Give a value of the type and shape that the graph declares for this input.");
  EXPECT_STREQ(thrown_by([&] { a.context->set_shape("x", {3}); }).what(),
               "input 'x': expected shape [batch, 3], found shape [3]."
               " Give a value of the type and shape that the graph declares for this input.");
  EXPECT_STREQ(thrown_by([&] {
                 a.context->set_shape("x", {9, 3});
               }).what(),
               "input 'x': expected batch from 1 to 8, found 9."
               " Give a value of the type and shape that the graph declares for this input.");
  EXPECT_EQ(code_of([&] { a.context->set_shape("x", {-1, 3}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(a.context->shape("x"), std::nullopt) << "a refused shape changes nothing";
}

TEST(Context, EqualNamesMustBeEqualSizes) {
  Affine a(2);
  a.context->set_shape("x", {2, 3});
  a.context->set_shape("z", {1, 3});
  a.bind();
  const char* message =
      "input 'z': expected batch = 2, as in input 'x', found 1."
      " Give a value of the type and shape that the graph declares for this input.";
  EXPECT_STREQ(thrown_by([&] { a.context->enqueue(a.stream); }).what(), message);
  EXPECT_STREQ(thrown_by([&] { a.context->required_bytes("y"); }).what(), message);
  EXPECT_STREQ(thrown_by([&] {
                 a.context->run({{"x", Tensor::allocate(DType::f32, {2, 3})},
                                 {"z", Tensor::allocate(DType::f32, {1, 3})}});
               }).what(),
               message);
}

TEST(Context, MissingShapesAreAllNamed) {
  Affine a(1);
  a.bind();
  Error e = thrown_by([&] { a.context->enqueue(a.stream); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_STREQ(
      e.what(),
      "context 'affine': expected the shape of every input, found none for 'x', 'z'. Call set_shape().");
}

TEST(Context, MissingMemoryIsAllNamed) {
  Affine a(1);
  a.set_shapes({1, 3});
  a.bind();
  a.context->bind_input("z", nullptr, 0);
  a.context->bind_output("y", nullptr, 0);
  Error e = thrown_by([&] { a.context->enqueue(a.stream); });
  EXPECT_EQ(e.parts().observed, "none for 'z', 'y'");
  EXPECT_EQ(a.context->stats().enqueued, 0u);
}

TEST(Context, MemoryOfTheWrongSize) {
  Affine a(1);
  a.set_shapes({1, 3});
  a.bind();
  a.context->bind_input("x", a.x.data(), 8);
  EXPECT_STREQ(thrown_by([&] { a.context->enqueue(a.stream); }).what(),
               "input 'x': expected 12 bytes for shape [1, 3], found 8 bytes bound."
               " Set the shape of the memory, or bind memory of this shape.");
  a.bind();
  a.context->bind_output("y", a.y.data(), 8);
  EXPECT_EQ(thrown_by([&] { a.context->enqueue(a.stream); }).parts().expected,
            "at least 12 bytes for shape [1, 3]");
  EXPECT_EQ(code_of([&] { a.context->bind_input("x", reinterpret_cast<char*>(a.x.data()) + 1, 12); }),
            ErrorCode::invalid_argument);
}

TEST(Context, FixedSizesAreCheckedWhenBound) {
  auto context = open_graph(reshape_graph())->create_context();
  std::array<int64_t, 3> shape{};
  EXPECT_EQ(
      thrown_by([&] { context->bind_input("shape", std::span<const int64_t>(shape)); }).parts().expected,
      "16 bytes for shape [2]");
}

TEST(Context, MissingAndNullDataOfRun) {
  Affine a(1);
  const Tensor one = Tensor::of<float>({1, 3}, {1, 1, 1});
  EXPECT_STREQ(thrown_by([&] {
                 a.context->run({{"x", one}});
               }).what(),
               "input 'z': expected f32[batch, 3], found no data for it");
  EXPECT_STREQ(thrown_by([&] {
                 a.context->run({{"x", one}, {"z", Datum()}});
               }).what(),
               "input 'z': expected f32[batch, 3], found nothing."
               " Give a value of the type and shape that the graph declares for this input.");
}

const std::vector<Profile> kProfiles = {{"small", {}, {{"batch", {1, 1, 2}}}},
                                        {"large", {}, {{"batch", {4, 4, 8}}}}};

TEST(Context, ProfilesLimitShapes) {
  Affine a(4, kProfiles);
  Error e = thrown_by([&] { a.context->set_shape("x", {4, 3}); });
  EXPECT_STREQ(
      e.what(),
      "input 'x': expected a shape from [1, 3] to [2, 3], by profile 0 'small', found [4, 3]. Profile 1 "
      "'large' allows it: call set_profile(1).");
  a.context->set_profile(1);
  a.set_shapes({4, 3});
  a.bind();
  a.run();
  EXPECT_EQ(a.y[11], 61);
  EXPECT_EQ(thrown_by([&] {
              a.context->set_shape("x", {3, 3});
            })
                .parts()
                .remedy,
            "Build the engine with a profile that allows it.");
}

TEST(Context, ChangingTheProfileForgetsShapes) {
  Affine a(4, kProfiles);
  a.set_shapes({2, 3});
  a.context->set_profile(1);
  EXPECT_EQ(a.context->profile(), 1u);
  EXPECT_EQ(a.context->shape("x"), std::nullopt);
  EXPECT_EQ(code_of([&] { a.context->set_profile(2); }), ErrorCode::invalid_argument);
  EXPECT_EQ(a.context->profile(), 1u);
}

TEST(Context, RunTakesShapesOfAnyProfile) {
  Affine a(1, kProfiles);
  auto run = [&](int64_t batch) {
    const Tensor t = Tensor::allocate(DType::f32, {batch, 3});
    return a.context->run({{"x", t}, {"z", t}}).at("y").tensor().shape();
  };
  EXPECT_EQ(run(2), (Shape{2, 3}));
  EXPECT_EQ(run(8), (Shape{8, 3}));
  EXPECT_EQ(code_of([&] { run(3); }), ErrorCode::invalid_argument);
}

// Memory for reshape_graph(), whose output's shape only running can tell.
struct Reshape {
  Reshape() {
    context->set_shape("x", {6});
    context->bind_input("x", std::span<const float>(x));
    context->bind_input("shape", std::span<const int64_t>(shape));
  }
  void run() {
    context->enqueue(stream);
    stream.synchronize();
  }

  std::unique_ptr<Context> context = open_graph(reshape_graph())->create_context("reshape");
  Floats x = {1, 2, 3, 4, 5, 6};
  std::array<int64_t, 2> shape = {2, 3};
  Stream stream;
};

TEST(Context, AsksTheAllocatorForOutputsOfUnknownSize) {
  Reshape r;
  Floats y;
  Shape told;
  r.context->set_output_allocator("y", [&](const std::string& name, const Shape& shape, size_t bytes) {
    EXPECT_EQ(name, "y");
    told = shape;
    y.resize(bytes / sizeof(float));
    return y.data();
  });
  r.run();
  EXPECT_EQ(told, (Shape{2, 3}));
  EXPECT_EQ(y, r.x);
  EXPECT_EQ(r.context->result_shape("y"), (Shape{2, 3}));
}

TEST(Context, ALargeEnoughBufferServesAnyResult) {
  Reshape r;
  Floats y(10, -1);
  r.context->bind_output("y", std::span(y));
  EXPECT_EQ(code_of([&] { r.context->result_shape("y"); }), ErrorCode::invalid_argument);
  r.shape = {3, 2};
  r.run();
  EXPECT_EQ(r.context->result_shape("y"), (Shape{3, 2}));
  EXPECT_EQ(y, (Floats{1, 2, 3, 4, 5, 6, -1, -1, -1, -1}));
}

TEST(Context, ABufferTooSmallForTheResultSaysWhatIsNeeded) {
  Reshape r;
  Floats y(5, -1);
  r.context->bind_output("y", std::span(y));
  Error e = thrown_by([&] { r.run(); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_STREQ(
      e.what(),
      "context 'reshape': output 'y': expected at least 24 bytes for shape [2, 3], found 20 bytes bound. "
      "Bind more memory or set an output allocator.");
  EXPECT_EQ(y, Floats(5, -1));
}

TEST(Context, AnAllocatorMayRefuseOrFail) {
  Reshape r;
  r.context->set_output_allocator("y", [](const std::string&, const Shape&, size_t) { return nullptr; });
  EXPECT_EQ(thrown_by([&] { r.run(); }).code(), ErrorCode::out_of_memory);
  r.context->set_output_allocator(
      "y", [](const std::string&, const Shape&, size_t) -> void* { throw std::runtime_error("no arena"); });
  EXPECT_NE(std::string(thrown_by([&] { r.run(); }).what()).find("no arena"), std::string::npos);
  EXPECT_EQ(r.context->stats().failed, 2u);
}

TEST(Context, EmptyTensorsNeedNoMemory) {
  Reshape r;
  r.context->set_shape("x", {0});
  r.context->bind_input("x", nullptr, 0);
  r.shape = {0, 7};
  Floats y(1);
  r.context->bind_output("y", std::span(y));
  r.run();
  EXPECT_EQ(r.context->result_shape("y"), (Shape{0, 7}));
}

Graph pass_on(Type type) {
  GraphBuilder g("pass");
  g.output("out", g.input("in", std::move(type)));
  return std::move(g).finish();
}

TEST(Context, RunTakesSequencesAndOptionals) {
  const Type tensor = Type::unranked(DType::f32);
  const Sequence two = {Tensor::of<float>({1}, {1}), Tensor::of<float>({2}, {2, 3})};
  auto outputs = open_graph(pass_on(Type::sequence(tensor)))->create_context()->run({{"in", two}});
  ASSERT_EQ(outputs.at("out").sequence().size(), 2u);
  EXPECT_TRUE(outputs.at("out").sequence()[1].identical(two[1]));

  auto context = open_graph(pass_on(Type::optional(tensor)))->create_context();
  EXPECT_TRUE(context->run({{"in", two[1]}}).at("out").tensor().identical(two[1]));
  EXPECT_TRUE(context->run({{"in", Datum()}}).at("out").is_none());
  EXPECT_TRUE(context->run({}).at("out").is_none());
}

TEST(Context, RunTakesStrings) {
  const Tensor words = Tensor::of_strings({2}, {"a", "bc"});
  auto context = open_graph(pass_on(Type::tensor(DType::string, {Dim::symbol("n")})))->create_context();
  EXPECT_EQ(context->run({{"in", words}}).at("out").tensor().strings()[1], "bc");
}

TEST(Context, OnlyRunTakesWhatHasNoBytes) {
  for (const Type& type : {Type::tensor(DType::string, {2}), Type::sequence(Type::unranked(DType::f32)),
                           Type::optional(Type::unranked(DType::f32))}) {
    auto context = open_graph(pass_on(type))->create_context();
    Stream stream;
    Error e = thrown_by([&] { context->enqueue(stream); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << to_string(type);
    EXPECT_EQ(e.parts().observed, to_string(type));
    std::array<float, 2> memory{};
    EXPECT_EQ(code_of([&] { context->bind_input("in", memory.data(), 8); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { context->required_bytes("in"); }), ErrorCode::invalid_argument);
  }
}

TEST(Context, FourThreadsShareOneEngine) {
  auto engine = open_graph(affine_graph());
  std::array<Floats, 4> results;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      auto context = engine->create_context();
      Floats x(24, static_cast<float>(t)), z(24, 1);
      results[t].resize(24);
      context->set_shape("x", {8, 3});
      context->set_shape("z", {8, 3});
      context->bind_input("x", std::span<const float>(x));
      context->bind_input("z", std::span<const float>(z));
      context->bind_output("y", std::span(results[t]));
      Stream stream;
      for (int i = 0; i < 50; ++i) context->enqueue(stream);
      stream.synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < results.size(); ++t)
    for (size_t i = 0; i < 24; ++i)
      ASSERT_EQ(results[t][i], static_cast<float>(t) * static_cast<float>(i % 3 + 1) * 10 + 1);
  EXPECT_EQ(engine->stats().inferences, 200u);
}

// Calls `call` while the context it listens to is inside enqueue().
class CallingLogger : public Logger {
 public:
  explicit CallingLogger(std::function<void()> call) : Logger(LogLevel::verbose), call_(std::move(call)) {}

 protected:
  void log(LogLevel level, std::string_view) noexcept override {
    if (level == LogLevel::verbose) std::thread(call_).join();
  }

 private:
  std::function<void()> call_;
};

TEST(Context, TwoThreadsAtOnceAreToldApart) {
  std::unique_ptr<Context> context;
  std::vector<std::string> messages;
  CallingLogger logger(
      [&] { messages.emplace_back(thrown_by([&] { context->set_shape("x", {3}); }).what()); });
  context = open_graph(pass_on(Type::tensor(DType::f32, {2})), {}, {}, logger)->create_context("shared");
  std::array<float, 2> in = {1, 2}, out{};
  context->bind_input("in", std::span<const float>(in));
  context->bind_output("out", std::span<float>(out));
  Stream stream;
  context->enqueue(stream);
  stream.synchronize();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(
      messages[0],
      "context 'shared': expected one thread at a time, found a call while another thread is in one. Create "
      "one context for each thread.");
  EXPECT_EQ(out, in);
}

}  // namespace
}  // namespace ingot
