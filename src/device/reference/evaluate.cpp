#include "device/reference/evaluate.h"

#include "device/reference/kernel.h"
#include "ingot/error.h"
#include "ir/bind_symbols.h"
#include "ir/decompose.h"
#include "ir/op_info.h"

namespace ingot::reference {
namespace {

// How many times each value is read, so that its memory goes as soon as nobody needs it.
std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.nodes().size(), 0);
  for (const Node& node : graph.nodes())
    for (Value v : node.operands)
      if (!v.is_none()) ++readers[static_cast<size_t>(v.node)];
  for (const Port& port : graph.outputs()) ++readers[static_cast<size_t>(port.value.node)];
  return readers;
}

class Evaluation {
 public:
  Evaluation(const Graph& graph, std::span<const Datum> inputs)
      : graph_(graph), results_(graph.nodes().size()), readers_(count_readers(graph)) {
    for (size_t i = 0; i < inputs.size(); ++i)
      results_[static_cast<size_t>(graph.inputs()[i].value.node)] = {inputs[i]};
  }

  std::vector<Datum> run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) run_node(i);
    std::vector<Datum> outputs;
    for (const Port& port : graph_.outputs()) outputs.push_back(result(port.value));
    return outputs;
  }

 private:
  void run_node(size_t i) {
    const Node& node = graph_.nodes()[i];
    if (node.op == Op::Input || readers_[i] == 0) return;
    std::vector<Datum> operands;
    for (Value v : node.operands) operands.push_back(v.is_none() ? Datum() : result(v));
    try {
      results_[i] = evaluate_node(node, operands);
    } catch (const Error& e) {
      rethrow_with_origin(e, node);
    }
    for (Value v : node.operands)
      if (!v.is_none() && --readers_[static_cast<size_t>(v.node)] == 0)
        results_[static_cast<size_t>(v.node)].clear();
  }

  const Datum& result(Value v) const {
    return results_[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output));
  }

  const Graph& graph_;
  std::vector<std::vector<Datum>> results_;
  std::vector<int> readers_;
};

}  // namespace

void rethrow_with_origin(const Error& e, const Node& node) {
  ErrorParts parts = e.parts();
  if (!node.origin.empty()) parts.object = fmt::format("node '{}': {}", node.origin, parts.object);
  if (parts.remedy.empty())
    parts.remedy = "Check the sizes and values of the inputs against what the model expects.";
  throw Error(std::move(parts));
}

std::vector<Datum> evaluate(const Graph& graph, std::span<const Datum> inputs) {
  bind_symbols(graph, inputs);
  return Evaluation(graph, inputs).run();
}

std::vector<Datum> evaluate_node(const Node& node, std::span<const Datum> operands, const RunBody* run_body) {
  if (node.op == Op::Constant) return {node.as<ConstantAttrs>().value.aligned()};
  if (Kernel kernel = find_kernel(node.op)) {
    KernelContext context(node, operands, run_body);
    kernel(context);
    return context.take_outputs();
  }
  Decomposed parts = decompose(node, operands);
  return evaluate(parts.graph, parts.inputs);
}

}  // namespace ingot::reference
