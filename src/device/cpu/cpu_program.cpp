#include "device/cpu/cpu_program.h"

#include <algorithm>

#include "device/cpu/execution.h"
#include "device/cpu/lowered_ops.h"
#include "device/cpu/machine_speed.h"
#include "device/cpu/static_graph.h"
#include "ir/bind_symbols.h"

namespace ingot::cpu {
namespace {

constexpr size_t kMaxPlans = 64;        // of one part; the least recently used goes
constexpr int64_t kMaxValueCount = 64;  // elements of an integer input that may decide sizes

bool may_decide_sizes(const Tensor& tensor) {
  return (tensor.dtype() == DType::i64 || tensor.dtype() == DType::i32) && tensor.rank() <= 1 &&
         tensor.count() <= kMaxValueCount;
}

bool all_static(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (!std::ranges::all_of(node.types, is_static)) return false;
  return true;
}

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
  return options.identity.empty() ? "" : fmt::format("{}-{}", options.identity, to_string(target));
}

std::shared_ptr<Cache> cache_of(const CompileOptions& options) {
  return options.identity.empty() || !options.cache ? std::make_shared<Cache>("") : options.cache;
}

EntryInfo weights_info(const kernel::Target& target, const CompileOptions& options) {
  return {.target = kernel::target_name(target.level),
          .engine = digest_from_hex(options.identity).value_or(Digest{})};
}

}  // namespace

bool PartPlans::matches(const Entry& entry, std::span<const Tensor* const> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (entry.shapes[i] != inputs[i]->shape()) return false;
    if (!entry.values.empty() && entry.values[i] && !entry.values[i]->identical(*inputs[i])) return false;
  }
  return true;
}

std::shared_ptr<const Plan> PartPlans::find(std::span<const Tensor* const> inputs) {
  std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (!matches(*it, inputs)) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return it->plan;
  }
  entries_.push_front(make(inputs));
  if (entries_.size() > kMaxPlans) entries_.pop_back();
  return entries_.front().plan;
}

PartPlans::Entry PartPlans::make(std::span<const Tensor* const> inputs) {
  const MemoryScope scope(workshop_.memory, MemoryPurpose::weights);  // what a plan keeps are constants
  Entry entry;
  for (const Tensor* tensor : inputs) entry.shapes.push_back(tensor->shape());
  if (by_value_)
    for (const Tensor* tensor : inputs)
      entry.values.push_back(may_decide_sizes(*tensor) ? std::optional(*tensor) : std::nullopt);
  for (std::optional<Tensor>& value : entry.values)
    if (value) {  // outlives the inference
      Tensor copy = Tensor::allocate(value->dtype(), value->shape());
      std::ranges::copy(value->bytes(), copy.mutable_bytes().begin());
      value = std::move(copy);
    }
  const Graph graph = make_static(part_.graph, entry.shapes, entry.values, lowers_whole);
  if (!all_static(graph)) {
    if (by_value_ || std::ranges::none_of(inputs, [](const Tensor* t) { return may_decide_sizes(*t); }))
      return entry;
    by_value_ = true;
    entries_.clear();
    return make(inputs);
  }
  entry.plan = build_plan(graph, workshop_);
  fallbacks_.add(*entry.plan);
  workshop_.weights.publish_later();
  count(*entry.plan);
  if (!by_value_) needs_.add(entry.shapes, *entry.plan);
  return entry;
}

void PartPlans::count(const Plan& plan) {
  ++made_;
  reference_nodes_ += static_cast<uint64_t>(plan.reference_nodes);
  if (plan.arena_bytes <= arena_bytes_) return;
  arena_bytes_ = plan.arena_bytes;
  least_bytes_ = plan.least_bytes;
  scratch_bytes_ = plan.scratch_bytes;
  value_bytes_ = plan.value_bytes;
}

CpuProgram::CpuProgram(std::shared_ptr<const Graph> graph, const CompileOptions& options,
                       kernel::Target target)
    : graph_(std::move(graph)),
      parts_(cut_graph(*graph_)),
      pool_(shared_thread_pool(options.threads, options.cpus)),
      cache_(cache_of(options)),
      kernels_(std::make_unique<KernelSet>(target, cache_, options.identity, options.diagnostics)),
      weights_(std::make_unique<PackedWeights>(cache_, weights_key(target, options), options.diagnostics,
                                               weights_info(target, options), options.memory)),
      fallbacks_(std::make_shared<FallbackLog>(options.diagnostics)),
      keep_denormals_(options.keep_denormals) {
  name_constants(*graph_, "", weight_names_);
  own_workshop_ = std::make_unique<Workshop>(
      Workshop{target, *kernels_, *weights_, *pool_, weight_names_, options.memory});
  workshop_ = own_workshop_.get();
  make_plans();
}

CpuProgram::CpuProgram(GraphPtr graph, CpuProgram& outer)
    : graph_(std::move(graph)),
      parts_(cut_graph(*graph_)),
      workshop_(outer.workshop_),
      fallbacks_(outer.fallbacks_),
      keep_denormals_(outer.keep_denormals_) {
  make_plans();
}

void CpuProgram::make_plans() {
  for (const Part& part : parts_.parts) {
    needs_.push_back(std::make_unique<PartNeeds>(part, *workshop_));
    plans_.push_back(std::make_unique<PartPlans>(part, *workshop_, *fallbacks_, *needs_.back()));
  }
}

const CpuProgram& CpuProgram::body(const GraphPtr& graph) const {
  std::lock_guard lock(bodies_mutex_);
  std::unique_ptr<CpuProgram>& body = bodies_[graph.get()];
  if (!body) body = std::make_unique<CpuProgram>(graph, const_cast<CpuProgram&>(*this));
  return *body;
}

// Only the first part: what comes after it has sizes that data decide.
void CpuProgram::prepare(const std::vector<std::vector<Shape>>& profiles) {
  if (parts_.stages.empty() || parts_.stages[0].part < 0) return;
  const Part& first = parts_.parts[static_cast<size_t>(parts_.stages[0].part)];
  for (const std::vector<Shape>& shapes : profiles) {
    std::vector<Tensor> tensors;
    for (Value v : first.inputs)
      for (size_t i = 0; i < graph_->inputs().size(); ++i)
        if (graph_->inputs()[i].value == v) {
          const DType dtype = graph_->type(v).dtype;
          // Only shapes are looked at.
          tensors.push_back(Tensor::allocate(dtype, shapes[i]));
        }
    if (tensors.size() != first.inputs.size()) continue;
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
    plans(parts_.stages[0].part).find(pointers);
  }
}

std::unique_ptr<Execution> CpuProgram::start() const {
  return std::make_unique<CpuExecution>(std::static_pointer_cast<const CpuProgram>(shared_from_this()),
                                        *this);
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
    const CacheStats cache = cache_->stats();
    stats.cache_rejected = cache.damaged + cache.refused;
    stats.cache_write_failures = cache.write_failures;
    stats.kernels_cached = kernels.registry + kernels.embedded + kernels.image + kernels.entry;
    const PackedWeightsStats weights = weights_->stats();
    stats.cache_rejected += weights.damaged_pieces;
    stats.packed_bytes = static_cast<int64_t>(weights.mapped_bytes + weights.packed_bytes);
  }
  for (const auto& plans : plans_) {
    stats.plans += plans->made();
    stats.reference_nodes += plans->reference_nodes();
    if (plans->arena_bytes() <= stats.arena_bytes) continue;
    stats.arena_bytes = plans->arena_bytes();
    stats.arena_least_bytes = plans->least_bytes();
    stats.scratch_bytes = plans->scratch_bytes();
    stats.value_bytes = plans->value_bytes();
  }
  return stats;
}

}  // namespace ingot::cpu
