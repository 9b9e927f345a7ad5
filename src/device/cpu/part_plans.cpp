#include "device/cpu/part_plans.h"

#include <algorithm>

#include "device/cpu/lowered_ops.h"
#include "device/cpu/static_graph.h"

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

// Outlives the inference.
Tensor copy_of(const Tensor& value) {
  Tensor copy = Tensor::allocate(value.dtype(), value.shape());
  std::ranges::copy(value.bytes(), copy.mutable_bytes().begin());
  return copy;
}

std::string text_of(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : " ") + ingot::to_string(shape);
  return text;
}

}  // namespace

PartPlans::PartPlans(const Part& part, Workshop& workshop, FallbackLog& fallbacks, PartNeeds& needs,
                     Specializer& specializer)
    : graph_(decompose_ahead(part.graph, is_never_whole)),
      workshop_(workshop),
      fallbacks_(fallbacks),
      needs_(needs),
      specializer_(specializer) {}

bool PartPlans::matches(const Entry& entry, std::span<const Tensor* const> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (entry.shapes[i] != inputs[i]->shape()) return false;
    if (!entry.values.empty() && entry.values[i] && !entry.values[i]->identical(*inputs[i])) return false;
  }
  return true;
}

std::shared_ptr<const Plan> PartPlans::find(std::span<const Tensor* const> inputs) {
  const std::lock_guard lock(mutex_);
  auto it = entries_.begin();
  while (it != entries_.end() && !matches(**it, inputs)) ++it;
  if (it != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, it);
  } else {
    EntryPtr entry = describe(inputs);
    make(*entry, inputs);
    keep(std::move(entry));
  }
  const EntryPtr& entry = entries_.front();
  if (entry->plan && entry->plan->is_generic) {
    ++stats_.generic_runs;
    specialize(entry);
  }
  return entry->plan;
}

PartPlans::EntryPtr PartPlans::describe(std::span<const Tensor* const> inputs) const {
  auto entry = std::make_shared<Entry>();
  for (const Tensor* tensor : inputs) {
    entry->shapes.push_back(tensor->shape());
    if (by_value_)
      entry->values.push_back(may_decide_sizes(*tensor) ? std::optional(copy_of(*tensor)) : std::nullopt);
  }
  return entry;
}

void PartPlans::make(Entry& entry, std::span<const Tensor* const> inputs) {
  entry.plan = make_plan(entry, specializer_.in_call());
  if (entry.plan) return count(*entry.plan);
  if (by_value_ || std::ranges::none_of(inputs, [](const Tensor* t) { return may_decide_sizes(*t); })) return;
  by_value_ = true;
  entries_.clear();
  entry.values = describe(inputs)->values;
  make(entry, inputs);
}

std::shared_ptr<const Plan> PartPlans::make_plan(const Entry& entry, const KernelPolicy& policy) {
  const MemoryScope scope(workshop_.memory, MemoryPurpose::weights);  // what a plan keeps are constants
  const Graph graph = make_static(graph_, entry.shapes, entry.values, lowers_whole);
  if (!all_static(graph)) return nullptr;
  auto plan = build_plan(graph, workshop_, policy);
  fallbacks_.add(*plan);
  workshop_.weights.publish_later();
  if (entry.values.empty()) needs_.add(entry.shapes, *plan);
  return plan;
}

void PartPlans::count(const Plan& plan) {
  ++stats_.made;
  stats_.reference_nodes += static_cast<uint64_t>(plan.reference_nodes);
  if (plan.arena_bytes <= stats_.arena_bytes) return;
  stats_.arena_bytes = plan.arena_bytes;
  stats_.arena_least_bytes = plan.least_bytes;
  stats_.scratch_bytes = plan.scratch_bytes;
  stats_.value_bytes = plan.value_bytes;
}

void PartPlans::keep(EntryPtr entry) {
  entries_.push_front(std::move(entry));
  if (entries_.size() <= kMaxPlans) return;
  entries_.pop_back();
  ++stats_.evicted;
}

void PartPlans::specialize(const EntryPtr& entry) {
  if (entry->waits || !specializer_.swaps()) return;
  entry->waits = specializer_.add([this, waiting = std::weak_ptr(entry)] { swap(waiting); });
}

void PartPlans::swap(const std::weak_ptr<Entry>& waiting) {
  const EntryPtr entry = waiting.lock();
  if (!entry) return;  // evicted
  auto plan = make_plan(*entry, specializer_.in_background());
  const Diagnostics& log = specializer_.diagnostics();
  if (log.wants(LogLevel::verbose))
    log.log(LogLevel::verbose, fmt::format("specialised for {} after {:.1f} ms", text_of(entry->shapes),
                                           entry->since.seconds() * 1e3));
  const std::lock_guard lock(mutex_);
  entry->plan = std::move(plan);
  ++stats_.specialized;
  stats_.specialize_seconds += entry->since.seconds();
}

bool PartPlans::prepare(const std::vector<Shape>& shapes, const KernelPolicy& policy) {
  auto wanted = std::make_shared<Entry>(Entry{.shapes = shapes, .values = {}, .plan = nullptr});
  const auto find_same = [&] {
    return std::ranges::find_if(
        entries_, [&](const EntryPtr& e) { return e->values.empty() && e->plan && e->shapes == shapes; });
  };
  {
    const std::lock_guard lock(mutex_);
    if (by_value_) return false;
    const auto same = find_same();
    if (same != entries_.end() && !(*same)->plan->is_generic) {
      entries_.splice(entries_.begin(), entries_, same);
      return true;
    }
  }
  wanted->plan = make_plan(*wanted, policy);
  if (!wanted->plan) return false;
  const std::lock_guard lock(mutex_);
  count(*wanted->plan);
  const auto same = find_same();
  if (same == entries_.end())
    keep(std::move(wanted));
  else
    (*same)->plan = wanted->plan;
  return true;
}

PlanStats PartPlans::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace ingot::cpu
