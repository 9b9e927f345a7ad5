#include "cli/engine_run.h"

#include <nlohmann/json.hpp>
#include <random>

#include "base/stopwatch.h"
#include "cli/arguments.h"
#include "cli/values.h"
#include "ingot/error.h"
#include "ingot/runtime_cache.h"
#include "tensor_io/random_tensor.h"
#include "tensor_io/tensor_file.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

// The option that would give the sizes, with the names and sizes of this input.
[[noreturn]] void fail_open_size(const PortInfo& port) {
  std::string dims;
  std::vector<std::string> sizes;
  if (port.type.is_ranked())
    for (const Dim& dim : *port.type.dims) {
      const auto symbol = dim.symbol_name();
      const std::string option = symbol ? fmt::format("--dim {}=SIZE ", *symbol) : "";
      if (dims.find(option) == std::string::npos) dims += option;
      sizes.push_back(dim.is_constant() ? dim.to_string() : "SIZE");
    }
  if (!dims.empty()) dims += "or ";
  const std::string shape = sizes.empty() ? "SIZExSIZE..." : fmt::format("{}", fmt::join(sizes, "x"));
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "input",
               .name = port.name,
               .expected = "sizes for all dimensions",
               .observed = to_string(port.type),
               .remedy = fmt::format("Give {}--shape {}={}.", dims, port.name, shape)});
}

// The shape of an input from what the command line says, or else the one that the first profile is best at.
Shape shape_for(const PortInfo& port, const std::map<std::string, int64_t>& dims, bool has_profiles) {
  if (dims.empty() && has_profiles && !port.ranges[0].opt.empty()) return port.ranges[0].opt;
  if (!port.type.is_ranked()) fail_open_size(port);
  Shape out;
  for (const Dim& dim : *port.type.dims) {
    const Dim known = dim.substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto found = dims.find(std::string(name));
      return found == dims.end() ? std::nullopt : std::optional<Dim>(found->second);
    });
    if (!known.is_constant()) fail_open_size(port);
    out.push_back(known.constant());
  }
  return out;
}

Json tensor_json(const Tensor& t) { return {{"dtype", to_string(t.dtype())}, {"shape", t.shape()}}; }

SpecializationStrategy parse_strategy(std::string_view text) {
  if (text == "eager") return SpecializationStrategy::eager;
  return text == "none" ? SpecializationStrategy::none : SpecializationStrategy::lazy;
}

}  // namespace

void EngineRun::declare(Arguments& a) {
  a.positional("ENGINE", path_, "The engine file.");
  declare_run(a);
}

void EngineRun::declare_run(Arguments& a) {
  a.option(
      "--device", "NAME", device_,
      fmt::format("The device to run on; default: {}. 'ingot version' lists them.", RuntimeConfig().device));
  a.repeated(
      "-i,--input", "NAME=FILE", input_texts_,
      "An input from a .npy, .npz, .pb (ONNX tensor) or .raw file (bare little-endian elements). FILE.npz "
      "without NAME= gives all inputs of its members' names.");
  a.option("--random-seed", "N", seed_, "Fill inputs that are not given with random values made from N.", 0,
           INT64_MAX);
  a.repeated("--shape", "NAME=SHAPE", shape_texts_, "Shape of a random or .raw input, as 1x3x224x224.");
  a.repeated("--dim", "NAME=SIZE", dim_texts_, "Size of a named dimension, for random and .raw inputs.");
  a.option("--threads", "N", threads_, "Threads of one inference; default: all CPUs.", 1, 1024);
  a.option(
      "--isa", "LEVEL", config_.isa,
      "Highest instruction set that the device cpu may use; default: $INGOT_CPU_ISA, else all there are.",
      {"avx2", "avx512", "avx512-vnni", "avx512-bf16", "amx"});
  a.option("--runtime-cache-file,--runtimeCacheFile", "FILE", cache_file_,
           "Read compiled kernels from this file, if it is there, and add those of this run to it.");
  a.repeated("--kernels", "PATH", kernel_files_,
             "Also take kernels from this file, as 'compile --prebuild' writes, or folder; it is only read.");
  a.option(
      "--specialize-strategy-ds,--specializeStrategyDS", "STRATEGY", strategy_,
      "What new shapes of an engine with dynamic ones do: lazy (generic kernels answer, better ones are made "
      "in the background), eager (the call waits for the best) or none (generic ones only); default: lazy.",
      {"lazy", "eager", "none"});
  a.flag("--deterministic", config_.deterministic,
         "Give equal bits for equal inputs in every call: kernels are never swapped.");
  a.flag("--keep-denormals", config_.keep_denormals,
         "Compute with numbers below 1e-38 rather than take them for zero, on the device cpu.");
}

void EngineRun::use_random_inputs(int64_t seed) {
  if (seed_ < 0) seed_ = seed;
}

void EngineRun::open(Logger& logger) {
  shapes_ = parse_shapes("--shape", shape_texts_);
  dims_ = parse_sizes("--dim", dim_texts_);
  config_.recorder = std::make_shared<ErrorRecorder>();  // errors are printed once, by the program
  config_.threads = static_cast<int>(threads_);
  if (!device_.empty()) config_.device = device_;
  config_.specialization = parse_strategy(strategy_);
  const Stopwatch watch;
  open_cache(logger);
  engine_ = Runtime(logger, config_).open(path_);
  load_seconds_ = watch.seconds();
  context_ = engine_->create_context();
  read_inputs();
}

void EngineRun::open_cache(Logger& logger) {
  if (cache_file_.empty() && kernel_files_.empty()) return;
  config_.cache =
      std::make_shared<RuntimeCache>(logger, RuntimeCacheConfig{.recorder = config_.recorder,
                                                                .memory = !cache_file_.empty(),
                                                                .folder = RuntimeCache::default_folder(),
                                                                .seeds = kernel_files_});
  if (cache_file_.empty()) return;
  try {
    const CacheImport loaded = config_.cache->load(cache_file_);
    if (loaded.rejected.total() == 0) kernels_loaded_ = loaded.added;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) logger.write(LogLevel::warning, error.what());
  }
}

void EngineRun::save_cache(Logger& logger) const {
  if (cache_file_.empty() || config_.cache->stats().entries == kernels_loaded_) return;
  try {
    config_.cache->save(cache_file_);
  } catch (const Error& error) {
    logger.write(LogLevel::warning, error.what());
  }
}

double EngineRun::run() {
  const Stopwatch watch;
  outputs_ = context_->run(inputs_);
  return watch.seconds();
}

void EngineRun::read_inputs() {
  for (const auto& [name, shape] : shapes_) engine_->input(name);  // throws for a name that is no input
  for (const std::string& text : input_texts_) read_input(text);
  if (seed_ >= 0) fill_with_random();
  refuse_missing();
}

void EngineRun::read_input(const std::string& text) {
  if (text.find('=') == std::string::npos && text.ends_with(".npz")) return read_archive(text);
  const auto [name, path] = parse_assignment("--input", text);
  const PortInfo& port = engine_->input(name);
  WantedDatum wanted{.name = name, .type = port.type, .shape = {}};
  if (auto given = shapes_.find(name); given != shapes_.end()) wanted.shape = given->second;
  if (path.ends_with(".raw") && !wanted.shape && !dims_.empty())
    wanted.shape = shape_for(port, dims_, !engine_->profiles().empty());
  add_input(name, read_datum_file(path, wanted), path);
}

void EngineRun::read_archive(const std::string& path) {
  std::map<std::string, DType> types;
  for (const PortInfo& port : engine_->inputs()) types[port.name] = port.type.element_dtype();
  for (auto& [name, tensor] : read_npz(path, types)) add_input(engine_->input(name).name, tensor, path);
}

void EngineRun::add_input(const std::string& name, Datum value, const std::string& source) {
  if (!inputs_.emplace(name, std::move(value)).second)
    throw UsageError(fmt::format("--input: expected each input once, found '{}' again", name));
  sources_[name] = source;
}

void EngineRun::fill_with_random() {
  std::mt19937_64 generator(static_cast<uint64_t>(seed_));
  for (const PortInfo& port : engine_->inputs()) {
    if (inputs_.contains(port.name) || port.type.kind == Type::Kind::optional) continue;
    if (!port.type.is_tensor()) continue;  // refuse_missing() names it
    const auto given = shapes_.find(port.name);
    Shape shape =
        given == shapes_.end() ? shape_for(port, dims_, !engine_->profiles().empty()) : given->second;
    add_input(port.name, random_tensor(port.type.dtype, std::move(shape), generator), "random");
  }
}

void EngineRun::refuse_missing() const {
  std::vector<std::string> missing;
  for (const PortInfo& port : engine_->inputs())
    if (!inputs_.contains(port.name) && port.type.kind != Type::Kind::optional)
      missing.push_back(fmt::format("'{}' {}", port.name, to_string(port.type)));
  if (missing.empty()) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "inputs of",
               .name = engine_->name(),
               .expected = "a value for each",
               .observed = fmt::format("none for {}", fmt::join(missing, ", ")),
               .remedy = "Give --input NAME=FILE, or --random-seed N for random values."});
}

Json EngineRun::inputs_json() const {
  Json out = Json::array();
  for (const auto& [name, value] : inputs_)
    out.push_back({{"name", name}, {"value", datum_json(value)}, {"source", sources_.at(name)}});
  return out;
}

std::string EngineRun::inputs_text() const {
  std::string out;
  for (const auto& [name, value] : inputs_)
    out += fmt::format("input  {}: {} from {}\n", name, describe(value), sources_.at(name));
  return out;
}

std::string describe(const Datum& datum) {
  if (datum.is_none()) return "nothing";
  if (datum.is_sequence()) return fmt::format("{} tensors", datum.sequence().size());
  return fmt::format("{}{}", to_string(datum.tensor().dtype()), to_string(datum.tensor().shape()));
}

Json datum_json(const Datum& datum) {
  if (datum.is_none()) return nullptr;
  if (datum.is_tensor()) return tensor_json(datum.tensor());
  Json out = Json::array();
  for (const Tensor& t : datum.sequence()) out.push_back(tensor_json(t));
  return out;
}

}  // namespace ingot::cli
