#include "cli/bench_report.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "base/resident_memory.h"
#include "cli/output.h"
#include "cli/profile_report.h"
#include "cli/timings.h"
#include "tensor_io/digest.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> latencies(const std::vector<Sample>& samples) {
  std::vector<double> out;
  for (const Sample& sample : samples) out.push_back(sample.seconds);
  return out;
}

double median_ratio(const BenchResult& result) {
  return summarize(result.onnxruntime->seconds).p50 / summarize(latencies(result.samples)).p50;
}

std::string phases_text(const EngineRun& run, const BenchResult& result) {
  const EngineStats stats = run.engine().stats();
  std::string out;
  if (result.import_seconds) out += fmt::format("import      {}\n", format_seconds(*result.import_seconds));
  if (result.build_seconds) out += fmt::format("build       {}\n", format_seconds(*result.build_seconds));
  return out + fmt::format("load        {}\n  compile   {} for {}\nfirst run   {}\n",
                           format_seconds(run.load_seconds()), format_seconds(stats.compile_seconds),
                           run.engine().device(), format_seconds(result.first_run));
}

std::string device_text(const EngineStats& stats) {
  std::string out = fmt::format("peak memory {}", format_bytes(resident_memory().peak));
  if (stats.kernels == 0) return out + "\n";
  out += fmt::format(", of it {} for intermediate values of a context, {} of packed weights\n",
                     format_bytes(static_cast<uint64_t>(stats.arena_bytes)),
                     format_bytes(static_cast<uint64_t>(stats.packed_bytes)));
  out += fmt::format("kernels     {}: {} compiled, {} from the cache; for {} sets of shapes\n", stats.kernels,
                     stats.kernels_compiled, stats.kernels_cached, stats.plans);
  if (stats.cache_rejected + stats.cache_write_failures > 0)
    out += fmt::format("cache       {} files rejected, {} not written\n", stats.cache_rejected,
                       stats.cache_write_failures);
  if (stats.reference_nodes > 0)
    out += fmt::format("fallbacks   {} nodes run on the reference device, for want of a kernel\n",
                       stats.reference_nodes);
  return out;
}

Json device_json(const EngineStats& stats) {
  return {{"kernels", stats.kernels},
          {"compiled", stats.kernels_compiled},
          {"cached", stats.kernels_cached},
          {"cache_rejected", stats.cache_rejected},
          {"cache_write_failures", stats.cache_write_failures},
          {"plans", stats.plans},
          {"reference_nodes", stats.reference_nodes},
          {"arena_bytes", stats.arena_bytes},
          {"packed_bytes", stats.packed_bytes}};
}

std::string latency_text(const BenchResult& result) {
  std::vector<double> sorted = latencies(result.samples);
  std::sort(sorted.begin(), sorted.end());
  const Timings t = summarize(sorted);
  std::string out = fmt::format("latency     min {}, mean {}, median {}", format_seconds(t.min),
                                format_seconds(t.mean), format_seconds(t.p50));
  for (const double p : result.percentiles)
    out += fmt::format(", p{:g} {}", p, format_seconds(percentile(sorted, p / 100)));
  return out + fmt::format(", max {}\n", format_seconds(t.max));
}

std::string comparison_text(const BenchResult& result) {
  if (!result.onnxruntime) return "";
  const OnnxRuntimeResult& peer = *result.onnxruntime;
  return fmt::format(
      "ONNX Runtime {}: load {}, first run {}, median {} of {} runs\n"
      "ratio       {:.3f} (its median / ours), relative difference of outputs {:.1e}\n",
      peer.version, format_seconds(peer.load), format_seconds(peer.first_run),
      format_seconds(summarize(peer.seconds).p50), peer.seconds.size(), median_ratio(result),
      peer.relative_error);
}

Json comparison_json(const BenchResult& result) {
  const OnnxRuntimeResult& peer = *result.onnxruntime;
  return {{"version", peer.version},       {"load", peer.load},
          {"first_run", peer.first_run},   {"steady", to_json(summarize(peer.seconds))},
          {"ratio", median_ratio(result)}, {"relative_error", peer.relative_error}};
}

Json steady_json(const BenchResult& result) {
  std::vector<double> sorted = latencies(result.samples);
  std::sort(sorted.begin(), sorted.end());
  Json out = to_json(summarize(sorted));
  for (const double p : result.percentiles) out[fmt::format("p{:g}", p)] = percentile(sorted, p / 100);
  out["throughput"] = throughput(result.samples);
  return out;
}

}  // namespace

double throughput(const std::vector<Sample>& samples) {
  double begin = samples.front().start, end = 0;
  for (const Sample& sample : samples) {
    begin = std::min(begin, sample.start);
    end = std::max(end, sample.start + sample.seconds);
  }
  return static_cast<double>(samples.size()) / (end - begin);
}

std::string bench_text(const EngineRun& run, const BenchResult& result) {
  std::string out =
      fmt::format("{} on {}\n{}", run.engine().name(), run.engine().device(), run.inputs_text());
  for (const auto& [name, value] : run.outputs())
    out += fmt::format("output {}: {}, sha256 {}\n", name, describe(value), to_hex(content_digest(value)));
  out += phases_text(run, result);
  out += fmt::format("steady      {} inferences, {} streams, {:.4g} per second\n", result.samples.size(),
                     result.streams, throughput(result.samples));
  out += latency_text(result) + device_text(run.engine().stats());
  return out + comparison_text(result);
}

Json bench_json(const EngineRun& run, const BenchResult& result) {
  Json outputs = Json::array();
  for (const auto& [name, value] : run.outputs())
    outputs.push_back(
        {{"name", name}, {"value", datum_json(value)}, {"sha256", to_hex(content_digest(value))}});
  Json out = {
      {"engine", run.engine().name()}, {"device", run.engine().device()}, {"inputs", run.inputs_json()}};
  if (result.import_seconds) out["import"] = *result.import_seconds;
  if (result.build_seconds) out["build"] = *result.build_seconds;
  out["load"] = run.load_seconds();
  out["compile"] = run.engine().stats().compile_seconds;
  out["first_run"] = result.first_run;
  out["streams"] = result.streams;
  out["steady"] = steady_json(result);
  out["peak_memory_bytes"] = resident_memory().peak;
  out["program"] = device_json(run.engine().stats());
  if (result.profile) out["profile"] = profile_json(*result.profile);
  if (result.onnxruntime) out["onnxruntime"] = comparison_json(result);
  out["outputs"] = outputs;
  out["passed"] = true;
  return out;
}

std::string average_lines(const std::vector<Sample>& samples, size_t count) {
  std::string out;
  for (size_t begin = 0; begin + count <= samples.size(); begin += count) {
    double sum = 0;
    for (size_t i = begin; i < begin + count; ++i) sum += samples[i].seconds;
    out += fmt::format("average of {} runs: {}\n", count, format_seconds(sum / static_cast<double>(count)));
  }
  return out;
}

Json samples_json(const std::vector<Sample>& samples) {
  Json out = Json::array();
  for (const Sample& sample : samples)
    out.push_back({{"stream", sample.stream}, {"start", sample.start}, {"seconds", sample.seconds}});
  return out;
}

}  // namespace ingot::cli
