#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingot/builder.h"
#include "ingot/graph.h"
#include "kernel/target.h"
#include "support/onnx_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

// An engine of several kernels that nothing embeds, and the program run on it with caches of the test.
namespace ingot {

inline constexpr int kBlocks = 12;  // of the graph
inline constexpr int kKernels = 8;  // that it becomes, at least

inline int from_environment(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

class KernelFiles : public testing::Test {
 protected:
  struct Run {
    ProgramResult result;
    nlohmann::json report = {};
    int compiled() const { return report["kernels"]["compiled"].get<int>(); }
    std::string digest() const { return report["outputs"][0]["sha256"].get<std::string>(); }
  };

  void SetUp() override {
    if (!kernel::detect_isa_level()) GTEST_SKIP() << "the device cpu needs AVX2";
    build();
    expected_ = run({}).digest();
  }

  // Row kernels that differ in the length of their chain, so nothing embeds them; reductions keep them apart.
  void build() const {
    GraphBuilder g("many");
    const Dim n = Dim::symbol("n", 1, 64);
    Value x = g.input("x", Type::tensor(DType::f32, {n, 33}));
    for (int i = 0; i < kBlocks; ++i) {
      for (int j = 0; j <= i; ++j) x = g.tanh(g.add(x, x));
      x = g.softmax(x);
    }
    g.output("y", x);
    BuilderConfig config;
    config.profiles = {{"p", {}, {{"n", {1, 20, 64}}}}};
    build_engine_file(std::move(g).finish(), engine_, config);
  }

  // The same kind of model for `ingot compile`, open in n.
  void write_model() const {
    using namespace onnx_model;
    std::string nodes, last = "x";
    for (int i = 0; i < kBlocks; ++i) {
      const std::string name = "t" + std::to_string(i);
      nodes += node("Tanh", {last}, {name}) + node("Softmax", {name}, {name + "s"});
      last = name + "s";
    }
    nodes += node("Relu", {last}, {"y"}) + input("x", f32, {"n", "33"}) + output("y", f32, {"n", "33"});
    folder_.write("model.onnx", model(nodes));
  }

  // `ingot exec` with no other cache than `folder`.
  Run run(std::vector<std::string> more, const std::string& folder = "", const char* compiler = nullptr,
          const std::function<void()>& in_child = {}) const {
    std::vector<std::string> words = {INGOT_PROGRAM, "exec",          engine_, "--device",
                                      "cpu",         "--random-seed", "1",     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Run run{run_program(words, [&] {
      setenv("INGOT_CACHE", folder.c_str(), 1);
      if (compiler) setenv("INGOT_JIT_LIBRARY", compiler, 1);
      if (in_child) in_child();
    })};
    run.report = nlohmann::json::parse(run.result.out, nullptr, false);
    return run;
  }
  Run run_file(const char* compiler = nullptr, const std::function<void()>& in_child = {}) const {
    return run({"--runtime-cache-file", file_}, "", compiler, in_child);
  }
  void expect_right(const Run& run) const {
    ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
    EXPECT_EQ(run.digest(), expected_);
  }
  static ProgramResult ingot(std::vector<std::string> words) {
    words.insert(words.begin(), INGOT_PROGRAM);
    return run_program(words);
  }
  static nlohmann::json kernel_cache(std::vector<std::string> words, int exit_code = 0) {
    words.insert(words.begin(), "kernel-cache");
    words.emplace_back("--json");
    const ProgramResult r = ingot(words);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    return nlohmann::json::parse(r.out, nullptr, false);
  }
  static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename());
    return names;
  }

  TempFolder folder_;
  const std::string engine_ = folder_.file("many.ingot");
  const std::string model_ = folder_.file("model.onnx");
  const std::string file_ = folder_.file("app.cache");
  const std::string cache_ = folder_.file("cache");
  std::string expected_;
};

}  // namespace ingot
