#include "device/cpu/cpu_program.h"

#include <algorithm>

#include "device/cpu/execution.h"
#include "device/cpu/machine_speed.h"

namespace ingot::cpu {
namespace {

// Names every constant by its position, which is the same whenever the engine is opened.
void name_constants(const Graph& graph, const std::string& prefix,
                    std::map<const std::byte*, std::string>& names) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Constant) {
      const Tensor& value = node.as<ConstantAttrs>().value;
      if (value.dtype() != DType::string)
        names.try_emplace(value.bytes().data(), fmt::format("{}{}", prefix, i));
    }
    for (size_t k = 0; k < node.subgraphs.size(); ++k)
      name_constants(*node.subgraphs[k], fmt::format("{}{}.{}/", prefix, i, k), names);
  }
}

// Panels are as wide as registers allow.
std::string weights_key(const kernel::Target& target, const CompileOptions& options) {
  if (options.identity.empty() || options.placeholder_weights) return "";
  return fmt::format("{}-{}", options.identity, to_string(target));
}

std::shared_ptr<Cache> cache_of(const CompileOptions& options) {
  return options.identity.empty() || !options.cache ? std::make_shared<Cache>("") : options.cache;
}

std::unique_ptr<WeightStream> make_stream(const CompileOptions& options) {
  if (!options.weight_budget) return nullptr;
  auto stream = std::make_unique<WeightStream>(*options.weight_budget);
  stream->add_pages(options.mapped_file);
  return stream;
}

EntryInfo weights_info(const kernel::Target& target, const CompileOptions& options) {
  return {.target = kernel::target_name(target.level),
          .engine = digest_from_hex(options.identity).value_or(Digest{})};
}

[[noreturn]] void refuse_to_go_on(size_t done, size_t total) {
  throw Error({.code = ErrorCode::cancelled,
               .object = "preparation",
               .expected = fmt::format("{} sets of shapes", total),
               .observed = fmt::format("a stop after {}", done)});
}

}  // namespace

CpuProgram::CpuProgram(std::shared_ptr<const Graph> graph, const CompileOptions& options,
                       kernel::Target target)
    : graph_(std::move(graph)),
      parts_(cut_graph(*graph_)),
      pool_(shared_thread_pool(options.threads, options.cpus)),
      cache_(cache_of(options)),
      kernels_(std::make_unique<KernelSet>(target, cache_, options.identity, options.diagnostics)),
      stream_(make_stream(options)),
      weights_(std::make_unique<PackedWeights>(cache_, weights_key(target, options), options.diagnostics,
                                               weights_info(target, options), options.memory, stream_.get())),
      fallbacks_(std::make_shared<FallbackLog>(options.diagnostics)),
      keep_denormals_(options.keep_denormals) {
  name_constants(*graph_, "", weight_names_);
  own_workshop_ =
      std::make_unique<Workshop>(Workshop{target, *kernels_, *weights_, *pool_, weight_names_, options.memory,
                                          options.workspace_limit, stream_.get()});
  workshop_ = own_workshop_.get();
  own_specializer_ = std::make_unique<Specializer>(options.specialization, options.deterministic, *kernels_,
                                                   options.diagnostics);
  specializer_ = own_specializer_.get();
  make_plans();
}

CpuProgram::CpuProgram(GraphPtr graph, CpuProgram& outer)
    : graph_(std::move(graph)),
      parts_(cut_graph(*graph_)),
      workshop_(outer.workshop_),
      fallbacks_(outer.fallbacks_),
      specializer_(outer.specializer_),
      keep_denormals_(outer.keep_denormals_) {
  make_plans();
}

void CpuProgram::make_plans() {
  for (const Part& part : parts_.parts) {
    needs_.push_back(std::make_unique<PartNeeds>(part, *workshop_));
    plans_.push_back(
        std::make_unique<PartPlans>(part, *workshop_, *fallbacks_, *needs_.back(), *specializer_));
  }
}

const CpuProgram& CpuProgram::body(const GraphPtr& graph) const {
  std::lock_guard lock(bodies_mutex_);
  std::unique_ptr<CpuProgram>& body = bodies_[graph.get()];
  if (!body) body = std::make_unique<CpuProgram>(graph, const_cast<CpuProgram&>(*this));
  return *body;
}

// Only the first part: what comes after it has sizes that data decide.
bool CpuProgram::prepare(const std::vector<Shape>& shapes, const KernelPolicy& policy) const {
  if (parts_.stages.empty() || parts_.stages[0].part < 0) return false;
  std::vector<Shape> of_part;
  for (Value v : parts_.parts[static_cast<size_t>(parts_.stages[0].part)].inputs)
    for (size_t i = 0; i < graph_->inputs().size(); ++i)
      if (graph_->inputs()[i].value == v) of_part.push_back(shapes[i]);
  return plans(parts_.stages[0].part).prepare(of_part, policy);
}

void CpuProgram::open(const std::vector<std::vector<Shape>>& shapes,
                      const std::vector<std::vector<Shape>>& samples) {
  const bool is_dynamic = !samples.empty();
  for (const std::vector<Shape>& set : shapes)
    prepare(set, is_dynamic ? specializer_->at_opening() : KernelPolicy());
  if (!specializer_->at_opening().standbys) return;
  for (const std::vector<Shape>& set : samples) {
    try {
      prepare(set, specializer_->at_opening());
    } catch (const Error& error) {
      specializer_->diagnostics().log(LogLevel::verbose,
                                      fmt::format("no generic kernels from sample shapes: {}", error.what()));
    }
  }
}

PrepareReport CpuProgram::prepare(const std::vector<std::vector<Shape>>& sets,
                                  const PrepareOptions& options) const {
  const Stopwatch watch;
  const ProgramStats before = stats();
  PrepareReport report;
  for (const std::vector<Shape>& set : sets) {
    report.deadline_reached = options.deadline && std::chrono::steady_clock::now() >= *options.deadline;
    if (report.deadline_reached) break;
    ++(prepare(set, {.threads = options.threads}) ? report.prepared : report.without_plan);
    const size_t done = report.prepared + report.without_plan;
    if (options.progress && !options.progress(done, sets.size())) refuse_to_go_on(done, sets.size());
  }
  const ProgramStats after = stats();
  report.kernels_compiled = after.kernels_compiled - before.kernels_compiled;
  report.kernels_cached = after.kernels_cached - before.kernels_cached;
  report.seconds = watch.seconds();
  return report;
}

std::unique_ptr<Execution> CpuProgram::start() const {
  return std::make_unique<CpuExecution>(std::static_pointer_cast<const CpuProgram>(shared_from_this()),
                                        *this);
}

std::optional<WeightStreaming> CpuProgram::weight_streaming() const {
  return stream_ ? std::optional(stream_->stats()) : std::nullopt;
}

void CpuProgram::set_weight_streaming_budget(uint64_t bytes) const {
  if (stream_) stream_->set_budget(bytes);
}

MachineSpeed CpuProgram::measure_speed() const {
  return measure_machine_speed(workshop_->target, workshop_->pool);
}

KernelListing CpuProgram::list_kernel(std::string_view key) const {
  const KernelSet& kernels = workshop_->kernels;
  for (int id = 0; id < kernels.size(); ++id) {
    if (kernels.key(id) != key) continue;
    kernel::Listing listing = kernel::compiler().list(kernels.source(id), kernels.target());
    return {.llvm_ir = std::move(listing.llvm_ir), .assembly = std::move(listing.assembly)};
  }
  refuse_kernel(key);
}

ProgramStats CpuProgram::stats() const {
  ProgramStats stats;
  if (kernels_) {
    const KernelStats kernels = kernels_->stats();
    stats.kernels = static_cast<uint64_t>(kernels_->size());
    stats.kernels_compiled = kernels.compiled;
    stats.kernels_compiled_in_calls = kernels.compiled_in_calls;
    stats.kernels_compiled_in_background = kernels.compiled_in_background;
    const CacheStats cache = cache_->stats();
    stats.cache_rejected = cache.damaged + cache.refused;
    stats.cache_write_failures = cache.write_failures;
    stats.kernels_cached = kernels.registry + kernels.embedded + kernels.image + kernels.entry;
    const PackedWeightsStats weights = weights_->stats();
    stats.cache_rejected += weights.damaged_pieces;
    stats.packed_bytes = static_cast<int64_t>(weights.mapped_bytes + weights.packed_bytes);
  }
  stats.specializations_pending = specializer_->pending();
  for (const auto& plans : plans_) {
    const PlanStats plan = plans->stats();
    stats.plans += plan.made;
    stats.plans_evicted += plan.evicted;
    stats.generic_runs += plan.generic_runs;
    stats.specialized += plan.specialized;
    stats.specialize_seconds += plan.specialize_seconds;
    stats.reference_nodes += plan.reference_nodes;
    if (plan.arena_bytes <= stats.arena_bytes) continue;
    stats.arena_bytes = plan.arena_bytes;
    stats.arena_least_bytes = plan.arena_least_bytes;
    stats.scratch_bytes = plan.scratch_bytes;
    stats.value_bytes = plan.value_bytes;
  }
  return stats;
}

}  // namespace ingot::cpu
