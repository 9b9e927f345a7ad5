// What new shapes cost, and what memory does when they keep coming.
//
//   ingot_dynamic_shapes calls  ENGINE THREADS COUNT NAME=LOW:HIGH...
//   ingot_dynamic_shapes plans  ENGINE THREADS COUNT NAME=LOW:HIGH...
//   ingot_dynamic_shapes memory ENGINE THREADS COUNT NAME=LOW:HIGH...
//   ingot_dynamic_shapes needs  ENGINE THREADS COUNT NAME=LOW:HIGH...
//
// Draws COUNT random sets of sizes for the named dimensions; integer inputs are filled with ones. `calls`
// runs each in a lazy engine and in one that never specialises: the first call of the lazy one against a
// repeated call of the other, which is the time of the generic kernels alone. `plans` prepares
// for them without running. `memory` prints resident memory
// on the way. `needs` compares the memory that a context asks of the application with the largest set of
// values alive at once, for the smallest and the largest sizes too.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <stdexcept>
#include <thread>

#include "base/stopwatch.h"
#include "ingot/runtime.h"

namespace ingot::bench {
namespace {

struct Range {
  std::string name;
  int64_t low = 1;
  int64_t high = 1;
};

Range parse_range(const std::string& text) {
  const size_t equals = text.find('='), colon = text.find(':');
  if (equals == std::string::npos || colon == std::string::npos)
    throw std::invalid_argument("expected NAME=LOW:HIGH, found '" + text + "'");
  return {text.substr(0, equals), std::stoll(text.substr(equals + 1, colon - equals - 1)),
          std::stoll(text.substr(colon + 1))};
}

using Inputs = std::map<std::string, Datum>;

// Random sets of inputs of an engine.
class Draw {
 public:
  Draw(const Engine& engine, std::vector<Range> ranges) : engine_(engine), ranges_(std::move(ranges)) {}

  Inputs next() {
    return of([&](const Range& r) { return std::uniform_int_distribution<int64_t>(r.low, r.high)(random_); });
  }

  Inputs of(const std::function<int64_t(const Range&)>& size) {
    std::map<std::string, int64_t, std::less<>> sizes;
    for (const Range& range : ranges_) sizes[range.name] = size(range);
    Inputs inputs;
    for (const PortInfo& port : engine_.inputs()) inputs.emplace(port.name, fill(port.type, sizes));
    return inputs;
  }

 private:
  Tensor fill(const Type& type, const std::map<std::string, int64_t, std::less<>>& sizes) {
    Shape shape;
    for (const Dim& dim : *type.dims)
      shape.push_back(dim.substitute([&](std::string_view name) -> std::optional<Dim> {
                           const auto found = sizes.find(name);
                           return found == sizes.end() ? std::nullopt : std::optional<Dim>(found->second);
                         })
                          .constant());
    Tensor tensor = Tensor::allocate(type.dtype, shape);
    const std::span<std::byte> bytes = tensor.mutable_bytes();
    std::ranges::fill(bytes, std::byte{0});
    if (type.dtype == DType::f32)
      std::ranges::fill(std::span(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)),
                        0.5F);
    if (is_integer(type.dtype))  // little-endian ones
      for (size_t i = 0; i < bytes.size(); i += static_cast<size_t>(bit_width(type.dtype) / 8))
        bytes[i] = std::byte{1};
    return tensor;
  }

  const Engine& engine_;
  std::vector<Range> ranges_;
  std::mt19937_64 random_{1};
};

struct Arguments {
  std::string engine;
  int threads = 0;
  int count = 0;
  std::vector<Range> ranges;
};

std::shared_ptr<const Engine> open(const Arguments& a, SpecializationStrategy strategy) {
  RuntimeConfig config;
  config.threads = a.threads;
  config.specialization = strategy;
  static StderrLogger logger(LogLevel::warning);
  return Runtime(logger, config).open(a.engine);
}

double seconds_of(Context& context, const Inputs& inputs) {
  const Stopwatch watch;
  context.run(inputs);
  return watch.seconds();
}

void print_percentiles(const char* name, std::vector<double> values, double scale, const char* unit) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))] * scale;
  };
  fmt::print("{:34} p50 {:.3f}  p90 {:.3f}  p99 {:.3f}  max {:.3f} {}\n", name, at(0.5), at(0.9), at(0.99),
             at(1), unit);
}

void print_stats(const Engine& engine) {
  const EngineStats s = engine.stats();
  fmt::print("plans {}, evicted {}, kernels {}, compiled {} (in calls {}, in the background {})\n", s.plans,
             s.plans_evicted, s.kernels, s.kernels_compiled, s.kernels_compiled_in_calls,
             s.kernels_compiled_in_background);
  fmt::print("served by generic kernels {}, swapped {}, pending {}, {:.1f} ms to specialised on average\n",
             s.generic_runs, s.specialized, s.specializations_pending,
             s.specialized == 0 ? 0 : s.specialize_seconds / static_cast<double>(s.specialized) * 1e3);
}

void measure_calls(const Arguments& a) {
  const auto lazy = open(a, SpecializationStrategy::lazy), generic = open(a, SpecializationStrategy::none);
  const auto context = lazy->create_context(), baseline = generic->create_context();
  Draw draw(*lazy, a.ranges);
  std::vector<double> first, repeated, ratio, again;
  for (int i = 0; i < a.count; ++i) {
    const Inputs inputs = draw.next();
    first.push_back(seconds_of(*context, inputs));
    again.push_back(seconds_of(*context, inputs));
    seconds_of(*baseline, inputs);
    repeated.push_back(std::min(seconds_of(*baseline, inputs), seconds_of(*baseline, inputs)));
    ratio.push_back(first.back() / repeated.back());
  }
  print_percentiles("first call, lazy", first, 1e3, "ms");
  print_percentiles("second call, lazy", again, 1e3, "ms");
  print_percentiles("generic kernels alone", repeated, 1e3, "ms");
  print_percentiles("first call / generic kernels", ratio, 1, "");
  print_stats(*lazy);
}

void measure_plans(const Arguments& a) {
  const auto engine = open(a, SpecializationStrategy::lazy);
  Draw draw(*engine, a.ranges);
  std::vector<double> times;
  for (int i = 0; i < a.count; ++i) {
    InputShapes shapes;
    for (const auto& [name, datum] : draw.next()) shapes[name] = datum.tensor().shape();
    times.push_back(engine->prepare({shapes}).seconds);
  }
  print_percentiles("planning and compiling", times, 1e3, "ms");
  print_stats(*engine);
}

uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

void measure_memory(const Arguments& a) {
  const auto engine = open(a, SpecializationStrategy::lazy);
  const auto context = engine->create_context();
  Draw draw(*engine, a.ranges);
  uint64_t after_first = 0, most = 0;
  for (int i = 1; i <= a.count; ++i) {
    context->run(draw.next());
    const uint64_t now = resident_bytes();
    if (i == 500) after_first = now;
    if (i > 500) most = std::max(most, now);
    if (i % 1000 == 0 || i == 500) fmt::print("{:6} shapes: {:.2f} MB\n", i, static_cast<double>(now) / 1e6);
  }
  if (after_first > 0 && most > 0)
    fmt::print("most after 500 shapes: {:+.2f} %\n",
               (static_cast<double>(most) / static_cast<double>(after_first) - 1) * 100);
  print_stats(*engine);
}

void print_need(Context& context, const Inputs& inputs) {
  std::string shapes;
  for (const auto& [name, datum] : inputs) {
    context.set_shape(name, datum.tensor().shape());
    shapes += fmt::format("{} {}  ", name, to_string(datum.tensor().shape()));
  }
  const size_t need = context.memory_size_for_shapes();
  const uint64_t least = context.memory_use().activation;
  fmt::print("{}needs {} bytes, values alive at once {}, ratio {:.4f}\n", shapes, need, least,
             static_cast<double>(need) / static_cast<double>(least));
}

void measure_needs(const Arguments& a) {
  const auto engine = open(a, SpecializationStrategy::lazy);
  const auto context = engine->create_context({.allocation = AllocationStrategy::user_managed});
  Draw draw(*engine, a.ranges);
  print_need(*context, draw.of([](const Range& r) { return r.low; }));
  print_need(*context, draw.of([](const Range& r) { return r.high; }));
  for (int i = 0; i < a.count; ++i) print_need(*context, draw.next());
}

int run(std::vector<std::string> arguments) {
  if (arguments.size() < 5)
    throw std::invalid_argument("expected calls|plans|memory|needs ENGINE THREADS COUNT NAME=LOW:HIGH...");
  Arguments a{arguments[1], std::stoi(arguments[2]), std::stoi(arguments[3]), {}};
  for (size_t i = 4; i < arguments.size(); ++i) a.ranges.push_back(parse_range(arguments[i]));
  if (arguments[0] == "calls") return measure_calls(a), 0;
  if (arguments[0] == "plans") return measure_plans(a), 0;
  if (arguments[0] == "memory") return measure_memory(a), 0;
  if (arguments[0] == "needs") return measure_needs(a), 0;
  throw std::invalid_argument("expected calls, plans, memory or needs, found '" + arguments[0] + "'");
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) {
  try {
    return ingot::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    return std::cerr << "ingot_dynamic_shapes: " << error.what() << "\n", 1;
  }
}
