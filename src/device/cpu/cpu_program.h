#pragma once

#include <list>
#include <map>
#include <mutex>

#include "cache/cache.h"
#include "device/cpu/fallback_log.h"
#include "device/cpu/kernel_set.h"
#include "device/cpu/packed_weights.h"
#include "device/cpu/part_needs.h"
#include "device/cpu/parts.h"
#include "device/cpu/plan.h"
#include "device/cpu/plan_builder.h"
#include "device/device.h"

namespace ingot::cpu {

// The plans of one part, by the shapes of its inputs: the most recent first, a bounded number.
class PartPlans {
 public:
  PartPlans(const Part& part, Workshop& workshop, FallbackLog& fallbacks, PartNeeds& needs)
      : part_(part), workshop_(workshop), fallbacks_(fallbacks), needs_(needs) {}

  // The plan for inputs of these shapes, made at the first call for their shapes; null where sizes depend on
  // data after all.
  std::shared_ptr<const Plan> find(std::span<const Tensor* const> inputs);
  uint64_t made() const { return made_; }
  uint64_t reference_nodes() const { return reference_nodes_; }
  // Of the plan that needs most.
  int64_t arena_bytes() const { return arena_bytes_; }
  int64_t least_bytes() const { return least_bytes_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  int64_t value_bytes() const { return value_bytes_; }

 private:
  struct Entry {
    std::vector<Shape> shapes;
    std::vector<std::optional<Tensor>> values;  // of small integer inputs, where sizes follow from them
    std::shared_ptr<const Plan> plan;
  };
  bool matches(const Entry& entry, std::span<const Tensor* const> inputs) const;
  Entry make(std::span<const Tensor* const> inputs);
  void count(const Plan& plan);

  const Part& part_;
  Workshop& workshop_;
  FallbackLog& fallbacks_;
  PartNeeds& needs_;
  std::mutex mutex_;
  std::list<Entry> entries_;
  bool by_value_ = false;  // small integer inputs count as constants
  std::atomic<uint64_t> made_ = 0;
  std::atomic<uint64_t> reference_nodes_ = 0;
  std::atomic<int64_t> arena_bytes_ = 0;
  std::atomic<int64_t> least_bytes_ = 0;
  std::atomic<int64_t> scratch_bytes_ = 0;
  std::atomic<int64_t> value_bytes_ = 0;
};

class CpuProgram : public Program {
 public:
  CpuProgram(std::shared_ptr<const Graph> graph, const CompileOptions& options, kernel::Target target);
  // The body of a control-flow node of `outer`, which outlives it.
  CpuProgram(GraphPtr graph, CpuProgram& outer);

  std::unique_ptr<Execution> start() const override;
  ProgramStats stats() const override;
  MemoryNeed memory_need(std::span<const std::optional<Shape>> inputs) const override {
    return cpu::memory_need(*graph_, parts_, needs_, inputs);
  }
  MachineSpeed measure_speed() const override;
  KernelListing list_kernel(std::string_view key) const override;

  const Graph& graph() const { return *graph_; }
  const Parts& parts() const { return parts_; }
  PartPlans& plans(int32_t part) const { return *plans_[static_cast<size_t>(part)]; }
  ThreadPool& pool() const { return workshop_->pool; }
  const KernelSet& kernels() const { return workshop_->kernels; }
  bool keep_denormals() const { return keep_denormals_; }
  // The program of a body, compiled at the first call.
  const CpuProgram& body(const GraphPtr& graph) const;

  void prepare(const std::vector<std::vector<Shape>>& profiles);
  void keep_kernels() { kernels_->keep_all(); }  // in the cache

 private:
  void make_plans();

  std::shared_ptr<const Graph> graph_;
  Parts parts_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Cache> cache_;
  std::unique_ptr<KernelSet> kernels_;
  std::unique_ptr<PackedWeights> weights_;
  std::map<const std::byte*, std::string> weight_names_;
  std::unique_ptr<Workshop> own_workshop_;
  Workshop* workshop_ = nullptr;
  std::shared_ptr<FallbackLog> fallbacks_;         // shared with bodies
  std::vector<std::unique_ptr<PartNeeds>> needs_;  // by part
  std::vector<std::unique_ptr<PartPlans>> plans_;  // by part
  mutable std::mutex bodies_mutex_;
  mutable std::map<const Graph*, std::unique_ptr<CpuProgram>> bodies_;
  bool keep_denormals_ = false;
};

}  // namespace ingot::cpu
