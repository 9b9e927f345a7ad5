// ingot_bench_kernels [--threads N] [--seconds S] [WORD]: kernels in turn with oneDNN's and OpenBLAS's on
// equal threads, all cases, those with the word in their name, or a product given as ROWSxDEPTHxCOLUMNS.
// Ratios are their time by ours.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "layer.h"

namespace ingot::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

Layer matrix(int64_t rows, int64_t depth, int64_t columns) {
  return {.name = fmt::format("gemm {}x{}x{}", rows, depth, columns),
          .is_matrix = true,
          .w = rows,
          .channels = depth,
          .columns = columns};
}
Layer convolution(int64_t size, int64_t channels, int64_t columns, int64_t kernel, int64_t stride) {
  return {.name = fmt::format("conv{} s{} {}x{}x{} to {}", kernel, stride, channels, size, size, columns),
          .h = size,
          .w = size,
          .channels = channels,
          .columns = columns,
          .kernel = kernel,
          .stride = stride,
          .pad = kernel / 2};
}
Layer depthwise(int64_t size, int64_t channels, int64_t kernel, int64_t stride) {
  return {.name = fmt::format("depthwise{} s{} {}x{}x{}", kernel, stride, channels, size, size),
          .h = size,
          .w = size,
          .groups = channels,
          .kernel = kernel,
          .stride = stride,
          .pad = kernel / 2};
}

std::vector<Layer> layers() {
  return {matrix(128, 768, 3072),
          matrix(128, 3072, 768),
          matrix(128, 768, 768),
          matrix(16, 768, 768),
          matrix(16, 768, 3072),
          matrix(1, 768, 3072),
          matrix(1, 768, 768),
          matrix(512, 512, 512),
          matrix(77, 768, 768),
          matrix(3136, 64, 256),
          matrix(784, 512, 128),
          matrix(196, 256, 1024),
          matrix(196, 1024, 256),
          matrix(49, 512, 2048),
          matrix(49, 2048, 512),
          matrix(128, 384, 1536),
          matrix(1, 128, 512),
          convolution(56, 64, 64, 3, 1),
          convolution(28, 128, 128, 3, 1),
          convolution(14, 256, 256, 3, 1),
          convolution(7, 512, 512, 3, 1),
          convolution(224, 3, 64, 7, 2),
          convolution(56, 256, 512, 1, 2),
          convolution(28, 512, 1024, 1, 2),
          convolution(56, 128, 128, 3, 2),
          convolution(56, 24, 144, 1, 1),
          convolution(56, 144, 24, 1, 1),
          convolution(14, 96, 576, 1, 1),
          convolution(14, 576, 96, 1, 1),
          convolution(7, 320, 1280, 1, 1),
          convolution(160, 16, 96, 1, 1),
          depthwise(112, 96, 3, 2),
          depthwise(112, 32, 3, 1),
          depthwise(56, 144, 3, 1),
          depthwise(14, 384, 3, 1),
          depthwise(14, 576, 3, 2),
          depthwise(7, 960, 3, 1),
          depthwise(28, 240, 5, 1)};
}

double seconds_of(Work& work, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; ++i) work.run();
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

struct Timings {
  std::vector<double> samples;
  double median() {
    std::nth_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2),
                     samples.end());
    return samples[samples.size() / 2];
  }
  double least() const { return *std::min_element(samples.begin(), samples.end()); }
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i] - b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(error / size);
}

struct Options {
  int threads = 1;
  double seconds = 0.4;  // per case
  std::string word;
};

// The ratio to oneDNN.
double measure(const Layer& layer, const Options& options) {
  const Data data(layer);
  std::vector<std::unique_ptr<Work>> works;
  works.push_back(ours(layer, data, options.threads));
  works.push_back(onednn(layer, data, options.threads));
  if (auto blas = openblas(layer, data, options.threads)) works.push_back(std::move(blas));
  std::vector<Timings> timings(works.size());
  std::vector<int> repeats;
  for (auto& work : works) {
    seconds_of(*work, 2);
    repeats.push_back(std::max(1, static_cast<int>(2e-3 / seconds_of(*work, 2))));
  }
  const auto start = Clock::now();
  while (timings[0].samples.size() < 11 ||
         std::chrono::duration<double>(Clock::now() - start).count() < options.seconds)
    for (size_t i = 0; i < works.size(); ++i) timings[i].samples.push_back(seconds_of(*works[i], repeats[i]));
  const double mine = timings[0].median();
  fmt::print("{:<28} {:9.1f} us {:7.1f} GFLOP/s  oneDNN {:5.2f} (least {:5.2f})", layer.name, mine * 1e6,
             layer.flops() / timings[0].least() * 1e-9, timings[1].median() / mine,
             timings[1].least() / timings[0].least());
  if (works.size() > 2) fmt::print("  OpenBLAS {:5.2f}", timings[2].median() / mine);
  const double error = distance(works[0]->output(), works[1]->output());
  fmt::print("{}\n", error < 1e-5 ? "" : fmt::format("  WRONG by {}", error));
  fflush(stdout);
  return timings[1].median() / mine;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc)
      options.threads = std::stoi(argv[++i]);
    else if (word == "--seconds" && i + 1 < argc)
      options.seconds = std::stod(argv[++i]);
    else
      options.word = word;
  }
  return options;
}

void run(const Options& options) {
  int64_t rows = 0, depth = 0, columns = 0;
  if (std::sscanf(options.word.c_str(), "%ldx%ldx%ld", &rows, &depth, &columns) == 3) {
    measure(matrix(rows, depth, columns), options);
    return;
  }
  double sum = 0;
  int count = 0;
  for (const Layer& layer : layers()) {
    if (layer.name.find(options.word) == std::string::npos) continue;
    sum += std::log(measure(layer, options));
    ++count;
  }
  if (count != 0)
    fmt::print("{} threads, {} cases, geometric mean {:.3f}\n", options.threads, count,
               std::exp(sum / count));
}

}  // namespace
}  // namespace ingot::benchmark

int main(int argc, char** argv) {
  // OpenBLAS of Debian 12 falls back to SSE kernels on processors that it does not know. It looks when it is
  // loaded.
  if (setenv("OPENBLAS_CORETYPE", "SkylakeX", 0) == 0 && getenv("INGOT_BENCH_AGAIN") == nullptr) {
    setenv("INGOT_BENCH_AGAIN", "1", 1);
    setenv("GOMP_SPINCOUNT", "1000", 0);  // threads that wait would take the processors of the next in turn
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
    execv("/proc/self/exe", argv);
  }
  ingot::benchmark::run(ingot::benchmark::parse(argc, argv));
}
