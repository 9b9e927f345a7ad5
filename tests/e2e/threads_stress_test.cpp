// Many threads on shared engines, with shapes that change at random: every result has the bits that one
// thread alone gets. INGOT_STRESS_INFERENCES says how many inferences (2,000) there are in each test.
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "ingot/runtime_cache.h"
#include "support/quiet_logger.h"

namespace ingot {
namespace {

constexpr int kThreads = 64;
constexpr int64_t kRows = 5, kSteps = 24, kWidth = 24;  // 120 shapes: more than a program keeps plans for

int inferences() {
  const std::string text =
      std::getenv("INGOT_STRESS_INFERENCES") ? std::getenv("INGOT_STRESS_INFERENCES") : "";
  int count = 2000;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

Tensor noise(Shape shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor out = Tensor::allocate(DType::f32, std::move(shape));
  for (float& v : out.mutable_data<float>()) v = static_cast<float>(random() % 2001) / 1000 - 1;
  return out;
}

// One layer of a transformer over f32[rows, steps, kWidth], with weights of this seed.
Graph layer_graph(uint32_t seed) {
  GraphBuilder g("layer");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("rows", 1, kRows),
                                                         Dim::symbol("steps", 1, kSteps), kWidth}));
  auto weights = [&](Shape shape) { return g.constant(noise(std::move(shape), ++seed)); };
  const Value q = g.matmul(x, weights({kWidth, kWidth}));
  const Value k = g.matmul(x, weights({kWidth, kWidth}));
  const Value scores = g.softmax(g.matmul(q, g.transpose(k, {.permutation = {0, 2, 1}})));
  const Value mixed = g.add(x, g.matmul(scores, x));
  const Value wide = g.gelu(g.matmul(mixed, weights({kWidth, 3 * kWidth})));
  g.output("y", g.add(mixed, g.matmul(wide, weights({3 * kWidth, kWidth}))));
  return std::move(g).finish();
}

// Deterministic: else the same call may run generic kernels once and better ones later.
std::shared_ptr<const Engine> open(const std::vector<std::byte>& bytes, RuntimeConfig config) {
  config.deterministic = true;
  return Runtime(quiet_logger(), std::move(config)).open(bytes, nullptr, "layer");
}

// For each shape an input and what one thread alone makes of it.
class Cases {
 public:
  explicit Cases(const std::vector<std::byte>& engine) {
    const auto context = open(engine, {.threads = 1, .cache_folder = ""})->create_context();
    for (int64_t rows = 1; rows <= kRows; ++rows)
      for (int64_t steps = 1; steps <= kSteps; ++steps) {
        const Tensor x = noise({rows, steps, kWidth}, static_cast<uint32_t>(rows * kSteps + steps));
        cases_.emplace_back(x, context->run({{"x", x}}).at("y").tensor());
      }
  }
  const std::pair<Tensor, Tensor>& any(std::mt19937& random) const {
    return cases_[random() % cases_.size()];
  }

  // The largest difference from the reference device, over a few shapes.
  double difference_from_reference(const std::vector<std::byte>& engine) const {
    const auto context = open(engine, {.device = "reference"})->create_context();
    double most = 0;
    for (size_t i = 0; i < cases_.size(); i += 17) {
      const Tensor expected = context->run({{"x", cases_[i].first}}).at("y").tensor();
      for (size_t k = 0; k < static_cast<size_t>(expected.count()); ++k)
        most =
            std::max<double>(most, std::abs(expected.data<float>()[k] - cases_[i].second.data<float>()[k]));
    }
    return most;
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> cases_;
};

// One thread's work on a context of its own, in all the ways there are to run it; how many results differ.
class Worker {
 public:
  Worker(const Engine& engine, const Cases& cases, uint32_t seed)
      : context_(engine.create_context()), cases_(cases), random_(seed) {}

  int run(int count) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
      const auto& [x, expected] = cases_.any(random_);
      wrong += !result(x, i % 3).identical(expected);
    }
    return wrong;
  }

 private:
  Tensor result(const Tensor& x, int way) {
    if (way == 0) return context_->run({{"x", x}}).at("y").tensor();
    Tensor y = Tensor::allocate(DType::f32, x.shape());
    context_->set_shape("x", x.shape());
    context_->bind_input("x", x.data<float>());
    context_->bind_output("y", y.mutable_data<float>());
    Stream& stream = way == 1 ? stream_ : inline_;
    context_->enqueue(stream);
    stream.synchronize();
    return y;
  }

  std::unique_ptr<Context> context_;
  const Cases& cases_;
  std::mt19937 random_;
  Stream stream_;
  Stream inline_ = Stream::inline_stream();
};

// `count` inferences by kThreads threads, the engines in turn; how many results differ.
int run_threads(const std::vector<std::shared_ptr<const Engine>>& engines, const std::vector<Cases>& cases,
                int count) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const size_t i = static_cast<size_t>(t) % engines.size();
      const int own = count / kThreads + (t < count % kThreads);
      wrong += Worker(*engines[i], cases[i], static_cast<uint32_t>(t)).run(own);
    });
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

TEST(ThreadStress, SixtyFourThreadsOnOneEngineGetTheBitsOfOneThread) {
  const std::vector<std::byte> bytes = build_engine(layer_graph(1));
  std::vector<Cases> cases;
  cases.emplace_back(bytes);
  EXPECT_LT(cases[0].difference_from_reference(bytes), 1e-2);
  const auto engine = open(bytes, {.threads = 2, .cache_folder = ""});
  EXPECT_EQ(run_threads({engine}, cases, inferences()), 0);
  EXPECT_EQ(engine->stats().inferences, static_cast<uint64_t>(inferences()));
  EXPECT_EQ(engine->stats().contexts_created, static_cast<uint64_t>(kThreads));
}

TEST(ThreadStress, EightEnginesShareOneCacheAndGetTheBitsOfOneThread) {
  constexpr size_t kEngines = 8;
  const auto cache = std::make_shared<RuntimeCache>(quiet_logger());
  std::vector<std::vector<std::byte>> bytes;
  std::vector<Cases> cases;
  for (uint32_t i = 0; i < kEngines; ++i) {
    bytes.push_back(build_engine(layer_graph(100 * i)));
    cases.emplace_back(bytes.back());
  }
  std::vector<std::shared_ptr<const Engine>> engines(kEngines);
  std::vector<std::thread> openers;
  for (size_t i = 0; i < kEngines; ++i)
    openers.emplace_back([&, i] { engines[i] = open(bytes[i], {.threads = 2, .cache = cache}); });
  for (std::thread& opener : openers) opener.join();
  EXPECT_EQ(run_threads(engines, cases, inferences()), 0);
  uint64_t sum = 0;
  for (const auto& engine : engines) sum += engine->stats().inferences;
  EXPECT_EQ(sum, static_cast<uint64_t>(inferences()));
}

}  // namespace
}  // namespace ingot
