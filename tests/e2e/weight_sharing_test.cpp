// Weights of one engine file lie in physical memory once, however many engines and processes use them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "support/child.h"
#include "support/quiet_logger.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

constexpr int64_t kRows = 4096, kColumns = 2048;  // of each of two weights: one read in place, one packed
constexpr uint64_t kWeightBytes = 2 * kRows * kColumns * sizeof(float);

Tensor numbers(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.mutable_data<float>()) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1 << 26);
  }
  return tensor;
}

Graph large_graph() {
  GraphBuilder g("large");
  const Value x = g.input("x", Type::tensor(DType::f32, {2, kRows}));
  const Value factors = g.input("factors", Type::tensor(DType::f32, {kRows, 1}));
  const Value axis = g.constant(Tensor::of<int64_t>({1}, {0}));
  g.output("in place", g.reduce_sum(g.mul(factors, g.constant(numbers({kRows, kColumns}, 1))), axis));
  g.output("packed", g.matmul(x, g.constant(numbers({kRows, kColumns}, 2))));
  return std::move(g).finish();
}

// Of this process, in bytes: pages shared with others count by their share.
uint64_t proportional_memory() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;)
    if (uint64_t kilobytes = 0; word == "Pss:" && rollup >> kilobytes) return kilobytes * 1024;
  return 0;
}

class WeightSharing : public testing::Test {
 protected:
  void SetUp() override {
    build_engine_file(large_graph(), engine_);
    ASSERT_TRUE(runs_in_child([&] { return use(1), true; }));  // packs weights and compiles kernels
  }

  // Engines that have run.
  std::vector<std::shared_ptr<const Engine>> use(int count) const {
    const Runtime runtime(quiet_logger(), {.threads = 1, .cache_folder = folder_.file("cache")});
    std::vector<std::shared_ptr<const Engine>> engines;
    for (int i = 0; i < count; ++i) {
      engines.push_back(runtime.open(engine_));
      engines.back()->create_context()->run(
          {{"x", numbers({2, kRows}, 3)}, {"factors", numbers({kRows, 1}, 4)}});
    }
    return engines;
  }

  void wait_for(const std::string& kind, int count) const {
    for (int i = 0; i < count; ++i)
      while (!std::filesystem::exists(folder_.file(fmt::format("{}{}", kind, i))))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // All processes measure while all of them have run.
  bool measure(int number, int processes, int engines_each) const {
    const auto engines = use(engines_each);
    folder_.write(fmt::format("ready{}", number), "");
    wait_for("ready", processes);
    const uint64_t bytes = proportional_memory();
    std::ofstream(folder_.file(fmt::format("bytes{}.part", number))) << bytes;
    std::filesystem::rename(folder_.file(fmt::format("bytes{}.part", number)),
                            folder_.file(fmt::format("bytes{}", number)));
    wait_for("bytes", processes);
    return bytes > 0;
  }

  // Of processes that use as many engines each at the same time, together.
  uint64_t memory_of(int processes, int engines_each) const {
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < processes; ++i)
      children.push_back(std::make_unique<Child>([=, this] { return measure(i, processes, engines_each); }));
    uint64_t sum = 0;
    for (int i = 0; i < processes; ++i) {
      EXPECT_TRUE(children[static_cast<size_t>(i)]->succeeded());
      sum += std::stoull(read_file(folder_.file(fmt::format("bytes{}", i))));
    }
    for (int i = 0; i < processes; ++i)
      for (const char* kind : {"ready", "bytes"})
        std::filesystem::remove(folder_.file(fmt::format("{}{}", kind, i)));
    printf("%d processes with %d engines each: %.1f MB, weights of the file %.1f MB\n", processes,
           engines_each, static_cast<double>(sum) / 1e6, static_cast<double>(kWeightBytes) / 1e6);
    return sum;
  }

  const TempFolder folder_;
  const std::string engine_ = folder_.file("large.ingot");
};

TEST_F(WeightSharing, ProcessesShareThePagesOfTheFileAndOfPackedWeights) {
  const uint64_t one = memory_of(1, 1);
  EXPECT_GT(one, kWeightBytes / 2) << "what is measured holds weights";
  EXPECT_LT(memory_of(2, 1), one + kWeightBytes / 2);
  EXPECT_LT(memory_of(4, 1), one + kWeightBytes);  // three times that without sharing
}

TEST_F(WeightSharing, EnginesOfAProcessShareThem) {
  EXPECT_LT(memory_of(1, 4), memory_of(1, 1) + kWeightBytes / 2);
}

}  // namespace
}  // namespace ingot
