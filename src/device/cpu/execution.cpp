#include "device/cpu/execution.h"

#include <algorithm>
#include <cstring>

#include "base/float_control.h"
#include "device/cpu/host_node.h"
#include "device/cpu/step_info.h"
#include "device/reference/evaluate.h"
#include "device/reference/give_outputs.h"
#include "ingot/error.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

// Keeps the outputs of a body.
class Kept : public OutputSink {
 public:
  explicit Kept(size_t count) : outputs(count) {}
  std::optional<std::span<std::byte>> memory(size_t, const Shape&) override { return std::nullopt; }
  void deliver(size_t index, Datum output) override { outputs[index] = std::move(output); }
  std::vector<Datum> outputs;
};

}  // namespace

CpuExecution::CpuExecution(std::shared_ptr<const CpuProgram> owner, const CpuProgram& program)
    : owner_(std::move(owner)), program_(program) {
  const Graph& graph = program.graph();
  results_.resize(graph.nodes().size());
  for (size_t n = 0; n < results_.size(); ++n) results_[n].resize(graph.nodes()[n].types.size());
  input_of_.assign(results_.size(), -1);
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    input_of_[static_cast<size_t>(graph.inputs()[i].value.node)] = static_cast<int32_t>(i);
  find_read_again();
  for (size_t n = 0; n < results_.size(); ++n)
    if (graph.nodes()[n].op == Op::Constant)
      results_[n][0] = graph.nodes()[n].as<ConstantAttrs>().value.aligned();
}

// Values that another stage or a second output needs cannot lie in the memory of an output.
void CpuExecution::find_read_again() {
  const Graph& graph = program_.graph();
  std::set<Value> read_once;
  auto read = [&](Value v) {
    if (!v.is_none() && !read_once.insert(v).second) read_again_.insert(v);
  };
  for (const Port& port : graph.outputs()) read(port.value);
  for (const Part& part : program_.parts().parts) std::ranges::for_each(part.inputs, read);
  for (const Stage& stage : program_.parts().stages)
    if (stage.node >= 0) std::ranges::for_each(graph.nodes()[static_cast<size_t>(stage.node)].operands, read);
}

size_t CpuExecution::persistent_bytes() const {
  auto bytes_of = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  size_t bytes = sizeof(*this) + bytes_of(buffers_) + bytes_of(part_inputs_) + bytes_of(part_outputs_) +
                 bytes_of(results_) + bytes_of(input_of_) + given_.capacity() / 8;
  for (const std::vector<Datum>& results : results_) bytes += bytes_of(results);
  for (const auto& [graph, execution] : bodies_) bytes += execution->persistent_bytes();
  return bytes;
}

void CpuExecution::run(std::span<const Datum> inputs, OutputSink& sink) {
  if (program_.keep_denormals()) return run_measured(inputs, sink);
  const FlushDenormals mode;
  run_measured(inputs, sink);
}

void CpuExecution::run_measured(std::span<const Datum> inputs, OutputSink& sink) {
  if (!profiler_) return run_stages(inputs, sink);
  profiler_->run_inference([&] { run_stages(inputs, sink); });
}

void CpuExecution::set_profiling(bool on) { profiler_ = on ? std::make_shared<StepProfiler>() : nullptr; }

ExecutionProfile CpuExecution::profile() const {
  ExecutionProfile profile = profiler_ ? profiler_->profile(program_.kernels()) : ExecutionProfile();
  profile.threads = program_.pool().size();
  return profile;
}

std::vector<Datum> CpuExecution::run(std::span<const Datum> inputs,
                                     const std::shared_ptr<StepProfiler>& profiler) {
  Kept kept(program_.graph().outputs().size());
  profiler_ = profiler;
  run_stages(inputs, kept);
  return std::move(kept.outputs);
}

void CpuExecution::run_stages(std::span<const Datum> inputs, OutputSink& sink) {
  const ThreadPool::Expectation more(program_.pool());
  given_.assign(program_.graph().outputs().size(), false);
  for (const Stage& stage : program_.parts().stages) {
    if (stage.part >= 0)
      run_part(stage.part, inputs, sink);
    else
      run_host(stage.node, inputs);
  }
  give_rest(inputs, sink);
}

const Datum& CpuExecution::value(Value v, std::span<const Datum> inputs) const {
  const int32_t input = input_of_[static_cast<size_t>(v.node)];
  return input >= 0 ? inputs[static_cast<size_t>(input)]
                    : results_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
}

// Whether an output of the graph may be written while the part runs.
bool CpuExecution::may_give_early(size_t output, const Part& part, size_t part_output, const Plan& plan,
                                  const OutputSink& sink) const {
  const std::optional<size_t> input = sink.in_place_of(output);
  if (!input) return true;
  const Graph& graph = program_.graph();
  const Value v = graph.inputs()[*input].value;
  const bool is_passed_on = std::ranges::any_of(graph.outputs(), [&](const Port& p) { return p.value == v; });
  if (is_passed_on || program_.parts().stages.size() != 1) return false;
  const auto found = std::ranges::find(part.inputs, v);
  return found == part.inputs.end() || can_overwrite(plan, found - part.inputs.begin(), part_output);
}

// The caller's memory for an output of the part, else a new tensor.
std::byte* CpuExecution::output_memory(const Part& part, size_t part_output, const Plan& plan,
                                       OutputSink& sink) {
  const Graph& graph = program_.graph();
  const Value v = part.outputs[part_output];
  const Shape& shape = plan.output_shapes[part_output];
  const Type& type = graph.type(v);
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i].value != v || given_[i] || is_read_again(v)) continue;
    if (!may_give_early(i, part, part_output, plan, sink)) break;
    if (std::optional<std::span<std::byte>> memory = sink.memory(i, shape)) {
      given_[i] = true;
      return memory->data();
    }
    break;
  }
  const bool is_output = std::ranges::any_of(graph.outputs(), [&](const Port& p) { return p.value == v; });
  const MemoryScope scope(is_output ? MemoryPurpose::output : MemoryPurpose::activation);
  Tensor tensor = Tensor::allocate(type.dtype, shape);
  std::byte* data = tensor.mutable_bytes().data();
  result(v) = std::move(tensor);
  return data;
}

void CpuExecution::run_part(int32_t index, std::span<const Datum> inputs, OutputSink& sink) {
  const Part& part = program_.parts().parts[static_cast<size_t>(index)];
  part_inputs_.clear();
  for (Value v : part.inputs) part_inputs_.push_back(&value(v, inputs).tensor());
  const std::shared_ptr<const Plan> plan = program_.plans(index).find(part_inputs_);
  if (!plan) {
    if (!profiler_) return run_without_plan(part);
    auto info = [&] {
      return StepInfo{.name = "part",
                      .kind = "reference",
                      .detail = fmt::format("{} nodes, sizes depend on data", part.graph.nodes().size())};
    };
    return profiler_->run_host(
        &part, [&] { run_without_plan(part); }, info);
  }
  part_outputs_.clear();
  for (size_t i = 0; i < part.outputs.size(); ++i)
    part_outputs_.push_back(output_memory(part, i, *plan, sink));
  run_plan(plan);
}

void CpuExecution::run_without_plan(const Part& part) {
  std::vector<Datum> operands;
  for (const Tensor* tensor : part_inputs_) operands.emplace_back(*tensor);
  std::vector<Datum> outputs = reference::evaluate(part.graph, operands);
  for (size_t i = 0; i < outputs.size(); ++i) result(part.outputs[i]) = std::move(outputs[i]);
}

void CpuExecution::run_plan(const std::shared_ptr<const Plan>& shared) {
  const Plan& plan = *shared;
  std::byte* arena = arena_.reserve(plan.arena_bytes);
  buffers_.clear();
  for (const Buffer& buffer : plan.buffers) {
    switch (buffer.kind) {
      case Buffer::Kind::arena: buffers_.push_back(arena + buffer.slot); break;
      case Buffer::Kind::constant: buffers_.push_back(buffer.memory); break;
      case Buffer::Kind::output: buffers_.push_back(part_outputs_[static_cast<size_t>(buffer.slot)]); break;
      case Buffer::Kind::input:
        buffers_.push_back(
            const_cast<std::byte*>(part_inputs_[static_cast<size_t>(buffer.slot)]->bytes().data()));
        break;
    }
  }
  ThreadPool& pool = program_.pool();
  const Frame frame{buffers_, pool};
  if (profiler_) return profiler_->run_plan(shared, frame);
  for (const std::unique_ptr<Step>& step : plan.steps) Plan::run(*step, frame);
}

void CpuExecution::run_host(int32_t n, std::span<const Datum> inputs) {
  bool by_routine = false;
  auto work = [&] { by_routine = evaluate_host(n, inputs); };
  if (!profiler_) return work();
  const Node& node = program_.graph().nodes()[static_cast<size_t>(n)];
  profiler_->run_host(&node, work, [&] { return describe_host_node(program_.graph(), node, by_routine); });
}

// Whether compiled code did it rather than the reference device.
bool CpuExecution::evaluate_host(int32_t n, std::span<const Datum> inputs) {
  const Node& node = program_.graph().nodes()[static_cast<size_t>(n)];
  std::vector<Datum> operands;
  for (Value v : node.operands) operands.push_back(v.is_none() ? Datum() : value(v, inputs));
  const reference::RunBody run_body = [&](const GraphPtr& graph, std::span<const Datum> data) {
    return body(graph).run(data, profiler_);
  };
  std::optional<std::vector<Datum>> results;
  bool by_routine = false;
  try {
    results = run_routine(node, operands, program_.pool(), scratch_);
    by_routine = results.has_value();
    if (!results) results = reference::evaluate_node(node, operands, &run_body);
  } catch (const Error& e) {
    reference::rethrow_with_origin(e, node);
  }
  results_[static_cast<size_t>(n)] = std::move(*results);
  return by_routine;
}

CpuExecution& CpuExecution::body(const GraphPtr& graph) {
  std::unique_ptr<CpuExecution>& body = bodies_[graph.get()];
  if (!body) body = std::make_unique<CpuExecution>(nullptr, program_.body(graph));
  return *body;
}

void CpuExecution::give_rest(std::span<const Datum> inputs, OutputSink& sink) {
  const std::vector<Port>& ports = program_.graph().outputs();
  rest_.clear();
  for (size_t i = 0; i < ports.size(); ++i)
    rest_.push_back(given_[i] ? nullptr : &value(ports[i].value, inputs));
  give_outputs(program_.graph(), inputs, rest_, sink);
}

}  // namespace ingot::cpu
