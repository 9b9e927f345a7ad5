// The cache on disk as a user meets it: whatever happens to it, the answer is that of a start without one.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "ingot/builder.h"
#include "ingot/graph.h"
#include "ingot/runtime.h"
#include "kernel/embedded/embedded_kernels.h"
#include "kernel/target.h"
#include "support/quiet_logger.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class CacheOfProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernel::detect_isa_level()) GTEST_SKIP() << "the device cpu needs AVX2";
    build();
    expected_ = digest(run(""));
    EXPECT_NE(expected_, "");
  }

  // Products, whose weights are packed, and row kernels.
  void build() {
    GraphBuilder g("small");
    const Value x = g.input("x", Type::tensor(DType::f32, {20, 70}));
    std::vector<float> weights(70 * 50);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 17) / 16 - 0.5f;
    const Value product = g.matmul(x, g.constant(Tensor::of<float>({70, 50}, weights)));
    g.output("y", g.softmax(g.tanh(product)));
    build_engine_file(std::move(g).finish(), engine_);
  }

  ProgramResult run(const std::string& cache, const char* compiler = nullptr) const {
    return run(engine_, cache, compiler);
  }
  static ProgramResult run(const std::string& engine, const std::string& cache, const char* compiler) {
    return run_program({INGOT_PROGRAM, "exec", "--device", "cpu", "--random-seed", "1", engine}, [&] {
      setenv("INGOT_CACHE", cache.c_str(), 1);
      if (compiler) setenv("INGOT_JIT_LIBRARY", compiler, 1);
    });
  }
  static std::string digest(const ProgramResult& result) {
    const size_t at = result.out.find("sha256 ");
    return at == std::string::npos ? "" : result.out.substr(at + 7, 64);
  }
  void expect_right(const ProgramResult& result) const {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(digest(result), expected_) << result.err;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> paths;
    for (const auto& file : fs::directory_iterator(cache_)) paths.push_back(file.path());
    return paths;
  }
  // Each file damaged by itself, then all of them.
  void expect_right_after(const std::function<void(const fs::path&)>& damage) {
    expect_right(run(cache_));
    const std::vector<fs::path> all = files();
    EXPECT_GE(all.size(), 3u) << "kernels, their image and packed weights";
    for (const fs::path& file : all) {
      damage(file);
      expect_right(run(cache_));
    }
    for (const fs::path& file : all) damage(file);
    const ProgramResult result = run(cache_);
    expect_right(result);
    EXPECT_NE(result.err.find("cache: "), std::string::npos) << "nothing was said: " << result.err;
    const ProgramResult healed = run(cache_, "/nowhere.so");
    expect_right(healed);
  }

  TempFolder folder_;
  const std::string engine_ = folder_.file("small.ingot");
  const std::string cache_ = folder_.file("cache");
  std::string expected_;
};

TEST_F(CacheOfProgram, RuntimeConfigNamesTheFolderAndStatsCount) {
  const auto start = [&](const std::string& folder) {
    RuntimeConfig config;
    config.device = "cpu";
    config.cache_folder = folder;
    const auto engine = Runtime(quiet_logger(), config).open(engine_);
    engine->create_context()->run({{"x", Tensor::of<float>({20, 70}, std::vector<float>(20 * 70, 0.5f))}});
    return engine->stats();
  };
  EXPECT_GT(start(cache_).kernels_compiled, 0u);
  EXPECT_EQ(start(cache_).kernels_compiled, 0u);
  for (const fs::path& file : files()) fs::resize_file(file, 100);
  EXPECT_EQ(start(cache_).cache_rejected, files().size());
  EXPECT_GT(start("/proc/cache").cache_write_failures, 0u);
  EXPECT_EQ(start("").cache_write_failures, 0u);
}

TEST_F(CacheOfProgram, AWarmStartNeedsNoCompiler) {
  const ProgramResult cold = run(cache_, "/nowhere.so");
  EXPECT_NE(cold.exit_code, 0);
  EXPECT_NE(cold.err.find("INGOT_JIT_LIBRARY"), std::string::npos) << cold.err;
  expect_right(run(cache_));
  expect_right(run(cache_, "/nowhere.so"));
}

// What the build embeds has the form that the lowering asks for.
TEST_F(CacheOfProgram, AProductWithBiasAndReluIsEmbedded) {
  if (!kernel::embedded_kernels()) GTEST_SKIP() << "built without INGOT_EMBED_KERNELS";
  const std::string engine = folder_.file("product.ingot");
  GraphBuilder g("product");
  const Value x = g.input("x", Type::tensor(DType::f32, {60, 70}));
  const Value weights = g.constant(Tensor::of<float>({70, 64}, std::vector<float>(70 * 64, 0.5f)));
  const Value bias = g.constant(Tensor::of<float>({64}, std::vector<float>(64, -1.0f)));
  g.output("y", g.relu(g.add(g.matmul(x, weights), bias)));
  build_engine_file(std::move(g).finish(), engine);
  const ProgramResult result = run(engine, "", "/nowhere.so");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(CacheOfProgram, ChangedFilesAreMadeAgain) {
  expect_right_after([](const fs::path& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (const auto offset : {fs::file_size(path) / 3, fs::file_size(path) - 1}) {
      file.seekg(static_cast<std::streamoff>(offset));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(offset));
      file.put(static_cast<char>(byte ^ 0x10));
    }
  });
}

TEST_F(CacheOfProgram, CutFilesAreMadeAgain) {
  expect_right_after([](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); });
  expect_right_after([](const fs::path& path) { fs::resize_file(path, 0); });
}

TEST_F(CacheOfProgram, FilesOfOtherKernelsAreMadeAgain) {
  expect_right(run(cache_));
  const std::vector<fs::path> all = files();
  for (size_t i = 0; i < all.size(); ++i)
    fs::copy_file(all[i], all[(i + 1) % all.size()], fs::copy_options::overwrite_existing);
  expect_right(run(cache_));
}

TEST_F(CacheOfProgram, WhatOthersMayWriteIsNotUsed) {
  expect_right(run(cache_));
  for (const fs::path& file : files()) chmod(file.c_str(), 0666);
  const ProgramResult result = run(cache_);
  expect_right(result);
  EXPECT_NE(result.err.find("may be written by others"), std::string::npos) << result.err;
  chmod(cache_.c_str(), 0777);
  EXPECT_NE(run(cache_, "/nowhere.so").exit_code, 0) << "kernels were taken from an open folder";
  expect_right(run(cache_));
}

TEST_F(CacheOfProgram, AnImpossibleFolderIsSaidOnce) {
  const ProgramResult result = run(folder_.write("file", "") + "/cache");
  expect_right(result);
  const size_t said = result.err.find("cache: ");
  ASSERT_NE(said, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("cache: ", said + 1), std::string::npos) << result.err;
}

TEST_F(CacheOfProgram, TenStartsAtOnceAgree) {
  std::vector<ProgramResult> results(10);
  std::vector<std::thread> threads;
  for (ProgramResult& result : results) threads.emplace_back([&] { result = run(cache_); });
  for (std::thread& thread : threads) thread.join();
  for (const ProgramResult& result : results) {
    expect_right(result);
    EXPECT_EQ(result.err.find("cache: "), std::string::npos) << result.err;
  }
  expect_right(run(cache_, "/nowhere.so"));
}

}  // namespace
}  // namespace ingot
