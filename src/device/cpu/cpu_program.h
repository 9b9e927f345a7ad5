#pragma once

#include <map>
#include <mutex>

#include "cache/cache.h"
#include "device/cpu/kernel_set.h"
#include "device/cpu/packed_weights.h"
#include "device/cpu/part_needs.h"
#include "device/cpu/part_plans.h"
#include "device/device.h"

namespace ingot::cpu {

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
  std::optional<WeightStreaming> weight_streaming() const override;
  void set_weight_streaming_budget(uint64_t bytes) const override;
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

  // Makes plans for shapes of the inputs, and what will serve others; for samples as far as the graph allows.
  void open(const std::vector<std::vector<Shape>>& shapes, const std::vector<std::vector<Shape>>& samples);
  PrepareReport prepare(const std::vector<std::vector<Shape>>& sets,
                        const PrepareOptions& options) const override;
  void keep_kernels() { kernels_->keep_all(); }  // in the cache

 private:
  void make_plans();
  // False where sizes depend on data.
  bool prepare(const std::vector<Shape>& shapes, const KernelPolicy& policy) const;

  std::shared_ptr<const Graph> graph_;
  Parts parts_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Cache> cache_;
  std::unique_ptr<KernelSet> kernels_;
  std::unique_ptr<WeightStream> stream_;  // null: not asked for
  std::unique_ptr<PackedWeights> weights_;
  std::map<const std::byte*, std::string> weight_names_;
  std::unique_ptr<Workshop> own_workshop_;
  Workshop* workshop_ = nullptr;
  std::shared_ptr<FallbackLog> fallbacks_;         // shared with bodies
  Specializer* specializer_ = nullptr;             // shared with bodies
  std::vector<std::unique_ptr<PartNeeds>> needs_;  // by part
  std::vector<std::unique_ptr<PartPlans>> plans_;  // by part
  mutable std::mutex bodies_mutex_;
  mutable std::map<const Graph*, std::unique_ptr<CpuProgram>> bodies_;
  bool keep_denormals_ = false;
  std::unique_ptr<Specializer> own_specializer_;  // the last: its thread works on what is above
};

}  // namespace ingot::cpu
