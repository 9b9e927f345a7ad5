#pragma once

#include <list>
#include <mutex>

#include "base/stopwatch.h"
#include "device/cpu/fallback_log.h"
#include "device/cpu/part_needs.h"
#include "device/cpu/parts.h"
#include "device/cpu/plan.h"
#include "device/cpu/specializer.h"

namespace ingot::cpu {

struct PlanStats {
  uint64_t made = 0;
  uint64_t evicted = 0;
  uint64_t generic_runs = 0;
  uint64_t specialized = 0;
  double specialize_seconds = 0;
  uint64_t reference_nodes = 0;
  int64_t arena_bytes = 0;  // of the plan that needs most, as the next three
  int64_t arena_least_bytes = 0;
  int64_t scratch_bytes = 0;
  int64_t value_bytes = 0;
};

// The plans of one part, by the shapes of its inputs: the most recent first, a bounded number. A plan whose
// kernels are generic is swapped for a better one between two calls.
class PartPlans {
 public:
  PartPlans(const Part& part, Workshop& workshop, FallbackLog& fallbacks, PartNeeds& needs,
            Specializer& specializer);

  // The plan for inputs of these shapes, made at the first call for their shapes; null where sizes depend on
  // data after all.
  std::shared_ptr<const Plan> find(std::span<const Tensor* const> inputs);
  // Makes the plan for these shapes unless there is one with all kernels that it wants. False where sizes
  // depend on data.
  bool prepare(const std::vector<Shape>& shapes, const KernelPolicy& policy);
  PlanStats stats() const;

 private:
  struct Entry {
    std::vector<Shape> shapes;
    std::vector<std::optional<Tensor>> values;  // of small integer inputs, where sizes follow from them
    std::shared_ptr<const Plan> plan;           // null: sizes depend on data
    bool waits = false;                         // for a better plan
    Stopwatch since = {};
  };
  using EntryPtr = std::shared_ptr<Entry>;

  static bool matches(const Entry& entry, std::span<const Tensor* const> inputs);
  EntryPtr describe(std::span<const Tensor* const> inputs) const;
  void make(Entry& entry, std::span<const Tensor* const> inputs);
  std::shared_ptr<const Plan> make_plan(const Entry& entry, const KernelPolicy& policy);
  void count(const Plan& plan);
  void keep(EntryPtr entry);
  void specialize(const EntryPtr& entry);
  void swap(const std::weak_ptr<Entry>& waiting);

  const Graph graph_;  // of the part, with what all shapes have in common done
  Workshop& workshop_;
  FallbackLog& fallbacks_;
  PartNeeds& needs_;
  Specializer& specializer_;
  mutable std::mutex mutex_;  // guards all below, and the plans of entries
  std::list<EntryPtr> entries_;
  bool by_value_ = false;  // small integer inputs count as constants
  PlanStats stats_;
};

}  // namespace ingot::cpu
