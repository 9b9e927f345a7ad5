#include <gtest/gtest.h>

#include "ingot/error.h"
#include "runtime/memory_testing.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr double kTolerance = 1e-4;

class AllocatorTest : public ::testing::TestWithParam<const char*> {
 protected:
  RuntimeConfig config() const {
    return {.device = GetParam(),
            .cache_folder = "",
            .allocator = allocator,
            .allocation = AllocationStrategy::on_profile_change,
            .specialization = SpecializationStrategy::eager};  // no thread allocates while a test counts
  }
  std::shared_ptr<const Engine> open() const {
    return open_graph(perceptron_graph(), perceptron_profiles(), config());
  }

  // Refuses the allocations of a call one by one until it succeeds; how many there were. What a refused call
  // took is free again.
  int64_t refuse_each(const std::function<void()>& call) const {
    const int64_t live = allocator->live(), bytes = allocator->live_bytes();
    for (int64_t number = 0; number < 1000; ++number) {
      allocator->refuse(number);
      try {
        call();
        allocator->refuse(CountingAllocator::kNever);
        return number;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
        EXPECT_NE(e.parts().expected.find("from the allocator"), std::string::npos) << e.what();
      }
      EXPECT_EQ(allocator->live(), live) << number;
      EXPECT_EQ(allocator->live_bytes(), bytes) << number;
    }
    ADD_FAILURE() << "the call never succeeds";
    return 0;
  }
  bool is_cpu() const { return std::string_view(GetParam()) == "cpu"; }

  const std::shared_ptr<CountingAllocator> allocator = std::make_shared<CountingAllocator>();
};

INSTANTIATE_TEST_SUITE_P(Devices, AllocatorTest, ::testing::Values("cpu", "reference"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(AllocatorTest, SeesWeightsIntermediateValuesAndOutputs) {
  std::map<std::string, Datum> out;
  {
    auto context = open()->create_context();
    out = context->run({{"x", perceptron_input(8)}});
  }
  EXPECT_GT(allocator->made(MemoryPurpose::weights), 0);
  EXPECT_GT(allocator->made(MemoryPurpose::activation), 0);
  if (is_cpu()) {
    EXPECT_EQ(allocator->made(MemoryPurpose::output), 1);
    EXPECT_EQ(allocator->live_bytes(), 8 * 64 * 4);
  }
  EXPECT_EQ(allocator->live(), 1);  // the output, which outlives all
  EXPECT_LT(difference(out.at("y").tensor(), perceptron_output(8)), kTolerance);
  out.clear();
  EXPECT_EQ(allocator->live(), 0);
  EXPECT_GE(allocator->least_alignment(), 64u);
}

TEST_P(AllocatorTest, MayRefuseEachAllocationOfOpen) {
  std::shared_ptr<const Engine> engine;
  EXPECT_GT(refuse_each([&] { engine = open(); }), 0);
  EXPECT_LT(difference(engine->create_context()->run({{"x", perceptron_input(8)}}).at("y").tensor(),
                       perceptron_output(8)),
            kTolerance);
}

TEST_P(AllocatorTest, MayRefuseEachAllocationOfAContext) {
  auto engine = open();
  std::unique_ptr<Context> context;
  const int64_t refused = refuse_each([&] { context = engine->create_context(); });
  EXPECT_EQ(refused, is_cpu() ? 1 : 0);
  context->run({{"x", perceptron_input(8)}});
}

TEST_P(AllocatorTest, MayRefuseEachAllocationOfAProfile) {
  auto context = open()->create_context();
  context->set_shape("x", {5, 64});
  const int64_t refused = refuse_each([&] {
    if (context->profile() == 0) {
      EXPECT_EQ(context->shape("x"), (Shape{5, 64}));  // a call that throws changes nothing
      context->set_profile(1);
    }
  });
  EXPECT_EQ(refused, is_cpu() ? 1 : 0);
  EXPECT_EQ(context->profile(), 1u);
}

TEST_P(AllocatorTest, MayRefuseEachAllocationOfARun) {
  auto context = open()->create_context();
  context->run({{"x", perceptron_input(8)}});
  Tensor y;
  EXPECT_GT(refuse_each([&] { y = context->run({{"x", perceptron_input(8)}}).at("y").tensor(); }), 0);
  EXPECT_LT(difference(y, perceptron_output(8)), kTolerance);
}

TEST_P(AllocatorTest, MayRefuseEachAllocationOfAnEnqueue) {
  auto context = open()->create_context();
  const Tensor x = perceptron_input(8);
  Tensor y = Tensor::allocate(DType::f32, {8, 64});
  context->set_shape("x", x.shape());
  context->bind_input("x", x.data<float>());
  context->bind_output("y", y.mutable_data<float>());
  auto run = [&] {
    Stream stream;
    context->enqueue(stream);
    stream.synchronize();
  };
  run();
  refuse_each(run);  // the context stays usable after each
  EXPECT_LT(difference(y, perceptron_output(8)), kTolerance);
}

TEST_P(AllocatorTest, MayRefuseEachAllocationOfAnInferenceOfNewShapes) {
  auto context = open()->create_context();
  context->set_profile(1);
  Tensor y;
  // What a new plan keeps for all contexts may stay although the inference failed.
  for (int64_t number = 0; y.count() == 0 && number < 1000; ++number) {
    allocator->refuse(number);
    try {
      y = context->run({{"x", perceptron_input(100)}}).at("y").tensor();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
    }
  }
  EXPECT_LT(difference(y, perceptron_output(100)), kTolerance);
  context.reset();
  y = {};
  EXPECT_EQ(allocator->live(), 0);
}

// Gives memory at odd addresses.
class LyingAllocator : public CountingAllocator {
 public:
  void* allocate(size_t size, size_t alignment, MemoryPurpose purpose) noexcept override {
    auto* memory = static_cast<std::byte*>(CountingAllocator::allocate(size + 8, alignment, purpose));
    return memory + 8;
  }
  void deallocate(void* memory, size_t size) noexcept override {
    CountingAllocator::deallocate(static_cast<std::byte*>(memory) - 8, size + 8);
  }
};

TEST(Allocator, ThatLiesIsFoundOut) {
  auto liar = std::make_shared<LyingAllocator>();
  const Error error = thrown_by([&] {
    (void)open_graph(perceptron_graph(), perceptron_profiles(), {.cache_folder = "", .allocator = liar});
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parts().object, "allocator");
  EXPECT_NE(error.parts().expected.find("multiple of 64"), std::string::npos);
  EXPECT_EQ(liar->live(), 0);
}

TEST(Allocator, LivesAsLongAsItsMemory) {
  std::weak_ptr<Allocator> watched;
  std::map<std::string, Datum> out;
  {
    auto allocator = std::make_shared<CountingAllocator>();
    watched = allocator;
    auto engine = open_graph(perceptron_graph(), {}, {.allocator = allocator});
    out = engine->create_context()->run({{"x", perceptron_input(2)}});
  }
  EXPECT_FALSE(watched.expired());
  out.clear();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace ingot
