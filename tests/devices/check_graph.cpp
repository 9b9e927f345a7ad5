#include "tests/devices/check_graph.h"

#include <algorithm>
#include <cmath>

#include "device/reference/evaluate.h"
#include "ir/print.h"
#include "tests/devices/compare.h"
#include "tests/devices/run.h"

namespace ingot::devices {
namespace {

double noise_of(DType dtype) {
  return (dtype == DType::f32 || dtype == DType::f64 ? 32 : 4) * unit_roundoff(dtype);
}

Allowance base_allowance(const Tensor& want) {
  const double noise = noise_of(want.dtype());
  return {.relative = 4 * noise, .absolute = 4 * noise * std::max(largest_finite(want), 1e-2)};
}

Tensor with_noise(const Tensor& tensor, Random& random) {
  const double size = noise_of(tensor.dtype()), largest = largest_finite(tensor);
  std::vector<double> elements = elements_of(tensor);
  for (double& x : elements) x += size * random.real(-1, 1) * std::max(std::fabs(x), largest / 8);
  return tensor_of(tensor.dtype(), tensor.shape(), elements);
}

// The reference device with rounding errors of a size that any device may make.
std::vector<Datum> evaluate_with_noise(const Graph& graph, const std::vector<Datum>& inputs, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<Datum>> contents(graph.nodes().size());
  auto content = [&](Value v) {
    return v.is_none() ? Datum() : contents[static_cast<size_t>(v.node)].at(static_cast<size_t>(v.output));
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    contents[static_cast<size_t>(graph.inputs()[i].value.node)] = {inputs[i]};
  for (size_t i = 0; i < contents.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::Input) continue;
    std::vector<Datum> operands;
    for (Value v : node.operands) operands.push_back(content(v));
    contents[i] = reference::evaluate_node(node, operands);
    for (Datum& datum : contents[i])
      if (node.op != Op::Constant && datum.is_tensor() && is_floating(datum.tensor().dtype()))
        datum = with_noise(datum.tensor(), random);
  }
  std::vector<Datum> outputs;
  for (const Port& port : graph.outputs()) outputs.push_back(content(port.value));
  return outputs;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = elements_of(a), y = elements_of(b);
  double largest = 0;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    largest = std::max(largest, std::fabs(x[i] - y[i]));
  return largest;
}

// How far noise moves an output.
double sensitivity(const Graph& graph, const std::vector<Datum>& inputs, size_t output, const Tensor& want) {
  double largest = 0;
  for (uint64_t seed = 0; seed < 4; ++seed)
    largest = std::max(largest,
                       largest_difference(evaluate_with_noise(graph, inputs, seed)[output].tensor(), want));
  return largest;
}

std::string difference(const Graph& graph, const std::vector<Datum>& inputs, size_t output, const Datum& want,
                       const Datum& got) {
  if (!want.is_tensor() || !is_floating(want.tensor().dtype())) return first_difference(want, got, {});
  Allowance allowed = base_allowance(want.tensor());
  if (first_difference(want, got, allowed).empty()) return {};
  allowed.absolute += 4 * sensitivity(graph, inputs, output, want.tensor());
  return first_difference(want, got, allowed);
}

std::string check_run(const TestGraph& graph, size_t run_index, Execution& execution) {
  const std::vector<Datum>& inputs = graph.runs[run_index];
  const std::vector<Datum> got = run(execution, *graph.graph, inputs),
                           want = reference::evaluate(*graph.graph, inputs);
  for (size_t i = 0; i < want.size(); ++i)
    if (std::string d = difference(*graph.graph, inputs, i, want[i], got[i]); !d.empty())
      return fmt::format("run {}, output {}: {}", run_index, graph.graph->outputs()[i].name, d);
  return {};
}

}  // namespace

std::string check_graph(const TestGraph& graph, const Target& target) {
  try {
    const auto execution = target.device->compile(graph.graph, target.options)->start();
    for (size_t i = 0; i < graph.runs.size(); ++i)
      if (std::string problem = check_run(graph, i, *execution); !problem.empty()) return problem;
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::string describe(const TestGraph& graph) {
  std::string text = print(*graph.graph, {.largest_list = 16, .largest_constant = 64});
  for (size_t run = 0; run < graph.runs.size(); ++run) {
    text += fmt::format("run {}:", run);
    for (const Datum& input : graph.runs[run])
      if (input.is_tensor()) text += " " + to_string(input.tensor().shape());
    text += "\n";
  }
  return text;
}

}  // namespace ingot::devices
