// Ingot as one of the implementations that benchmarks/peers.py measures.
//
//   ingot_bench_runner ENGINE INPUTS.npz OUTPUT-FOLDER DEVICE THREADS
//   ingot_bench_runner --stream THREADS
//
// Opens ENGINE, runs it once, writes output number i to OUTPUT-FOLDER/i.npy and prints one line of JSON about
// the start. Then every line N on standard input asks for N more runs; the answer is one line of JSON: their
// times in seconds, and the CPU time of the process for all of them. With --stream the runs read memory as
// fast as it goes, and the times are bytes per second.
#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/stopwatch.h"
#include "ingot/runtime.h"
#include "memory_stream.h"
#include "tensor_io/npy.h"
#include "tensor_io/tensor_file.h"

namespace ingot::bench {
namespace {

using Json = nlohmann::ordered_json;

int parse_count(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw std::invalid_argument(fmt::format("expected a count, found '{}'", text));
  return value;
}

// A field of /proc/self/status in bytes.
uint64_t memory_of_process(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::stoull(line.substr(field.size() + 1)) * 1024;
  return 0;
}

void write_outputs(const Engine& engine, const std::map<std::string, Datum>& outputs,
                   const std::string& folder) {
  for (size_t i = 0; i < engine.outputs().size(); ++i) {
    const Datum& value = outputs.at(engine.outputs()[i].name);
    if (value.is_tensor()) write_npy(value.tensor(), fmt::format("{}/{}.npy", folder, i));
  }
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Answers every line of standard input with `measure(N)`.
template <class Measure>
void serve(const Measure& measure) {
  for (std::string line; std::getline(std::cin, line);) {
    Json times = Json::array();
    const double cpu = cpu_seconds();
    for (int i = parse_count(line); i > 0; --i) times.push_back(measure());
    std::cout << Json{{"times", times}, {"cpu", cpu_seconds() - cpu}} << std::endl;
  }
}

void serve_engine(const std::string& path, const std::string& inputs_path, const std::string& folder,
                  const std::string& device, int threads) {
  std::map<std::string, Datum> inputs;
  for (auto& [name, tensor] : read_npz(inputs_path)) inputs.emplace(name, std::move(tensor));
  const uint64_t memory = memory_of_process("VmRSS:");
  StderrLogger logger;
  RuntimeConfig config;
  config.device = device;
  config.threads = threads;
  const Stopwatch open_watch;
  const auto engine = Runtime(logger, config).open(path);
  const auto context = engine->create_context();
  const double open_seconds = open_watch.seconds();
  const Stopwatch run_watch;
  auto outputs = context->run(inputs);
  const double first_seconds = run_watch.seconds();
  const EngineStats stats = engine->stats();
  const Json start = {{"load", open_seconds},
                      {"first", first_seconds},
                      {"kernels", stats.kernels},
                      {"kernels_compiled", stats.kernels_compiled},
                      {"reference_nodes", stats.reference_nodes},
                      {"start_memory", memory},
                      {"peak_memory", memory_of_process("VmHWM:")}};
  write_outputs(*engine, outputs, folder);
  std::cout << start << std::endl;
  serve([&] {
    const Stopwatch watch;
    outputs = context->run(inputs);
    return watch.seconds();
  });
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "--stream") {
    std::cout << Json::object() << std::endl;
    serve([threads = parse_count(words[1])] { return stream_read_rate(threads); });
    return 0;
  }
  if (words.size() != 5) {
    std::cerr
        << "usage: ingot_bench_runner ENGINE INPUTS.npz OUTPUT-FOLDER DEVICE THREADS | --stream THREADS\n";
    return 2;
  }
  serve_engine(words[0], words[1], words[2], words[3], parse_count(words[4]));
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) {
  try {
    return ingot::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "ingot_bench_runner: " << error.what() << "\n";
    return 1;
  }
}
