// One engine, one context for each thread: weights and kernels are shared, nothing has to be locked.
#include <iostream>
#include <numeric>
#include <thread>

#include "ingot/builder.h"
#include "ingot/runtime.h"

namespace {

constexpr int kThreads = 4;
constexpr int kInferences = 100;

// y[i] = sum of the rows of x.
ingot::Graph row_sums() {
  ingot::GraphBuilder g("row_sums");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {ingot::Dim::symbol("rows"), 4}));
  ingot::Value ones = g.constant(ingot::Tensor::of<float>({4, 1}, {1, 1, 1, 1}));
  g.output("y", g.matmul(x, ones));
  return std::move(g).finish();
}

// Each thread has its own shapes and data. An engine is shared by all of them, a context by none.
void work(const ingot::Engine& engine, int thread, double& total) {
  const auto context = engine.create_context("worker " + std::to_string(thread));
  for (int i = 0; i < kInferences; ++i) {
    const int64_t rows = 1 + (i + thread) % 8;
    std::vector<float> x(static_cast<size_t>(rows * 4), static_cast<float>(thread));
    const auto outputs = context->run({{"x", ingot::Tensor::of<float>({rows, 4}, x)}});
    const auto sums = outputs.at("y").tensor().data<float>();
    total += std::accumulate(sums.begin(), sums.end(), 0.0);
  }
}

}  // namespace

int main() try {
  ingot::StderrLogger logger;
  ingot::RuntimeConfig config;
  config.threads = 1;  // of one inference: here the work is spread over inferences instead
  const auto bytes = ingot::build_engine(row_sums());
  const auto engine = ingot::Runtime(logger, config).open(bytes, nullptr, "row sums");

  std::vector<double> totals(kThreads, 0.0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { work(*engine, t, totals[static_cast<size_t>(t)]); });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << engine->stats().inferences << " inferences";
  for (double total : totals) std::cout << ", " << total;
  std::cout << "\n";
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
