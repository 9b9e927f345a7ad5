#pragma once

#include <set>

#include "device/cpu/arena.h"
#include "device/cpu/cpu_program.h"
#include "device/cpu/step_profiler.h"

namespace ingot::cpu {

class CpuExecution : public Execution {
 public:
  // `owner` keeps `program` alive; null for the body of a loop, whose owner is elsewhere.
  CpuExecution(std::shared_ptr<const CpuProgram> owner, const CpuProgram& program);

  void use_memory(std::span<std::byte> block) override { arena_.borrow(block); }
  void run(std::span<const Datum> inputs, OutputSink& sink) override;
  size_t persistent_bytes() const override;
  // For bodies of control flow; measured by the profiler of the execution around it, null where there is
  // none.
  std::vector<Datum> run(std::span<const Datum> inputs, const std::shared_ptr<StepProfiler>& profiler);
  void set_profiling(bool on) override;
  ExecutionProfile profile() const override;

 private:
  void find_read_again();
  void run_measured(std::span<const Datum> inputs, OutputSink& sink);
  void run_stages(std::span<const Datum> inputs, OutputSink& sink);
  void run_part(int32_t part, std::span<const Datum> inputs, OutputSink& sink);
  void run_without_plan(const Part& part);
  void run_host(int32_t node, std::span<const Datum> inputs);
  bool evaluate_host(int32_t node, std::span<const Datum> inputs);
  void run_plan(const std::shared_ptr<const Plan>& plan);
  Datum& result(Value v) { return results_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)]; }
  const Datum& value(Value v, std::span<const Datum> inputs) const;
  std::byte* output_memory(const Part& part, size_t part_output, const Plan& plan, OutputSink& sink);
  bool may_give_early(size_t output, const Part& part, size_t part_output, const Plan& plan,
                      const OutputSink& sink) const;
  bool is_read_again(Value v) const { return read_again_.contains(v); }
  void give_rest(std::span<const Datum> inputs, OutputSink& sink);
  CpuExecution& body(const GraphPtr& graph);

  std::shared_ptr<const CpuProgram> owner_;
  const CpuProgram& program_;
  std::shared_ptr<StepProfiler> profiler_;  // null: off
  Arena arena_;
  Arena scratch_;
  std::vector<std::byte*> buffers_;
  std::vector<const Tensor*> part_inputs_;
  std::vector<std::byte*> part_outputs_;
  std::vector<std::vector<Datum>> results_;  // by node of the graph
  std::vector<int32_t> input_of_;            // by node: which input it is, or -1
  std::set<Value> read_again_;               // not only as one output of the graph
  std::vector<bool> given_;                  // by output of the graph
  std::vector<const Datum*> rest_;           // of the outputs, in give_rest()
  std::map<const Graph*, std::unique_ptr<CpuExecution>> bodies_;
};

}  // namespace ingot::cpu
