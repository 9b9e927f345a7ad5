#include "device/cpu/derived_weights.h"

#include <algorithm>

#include "device/cpu/block_weights.h"
#include "device/cpu/groups.h"
#include "device/cpu/quantised.h"
#include "device/cpu/static_graph.h"
#include "device/cpu/view.h"
#include "device/reference/evaluate.h"
#include "ir/op_info.h"
#include "ir/print.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 26;
constexpr int kMostDepth = 6;  // of ops on ops

bool is_elementwise(const Node& node) {
  return op_info(node.op).is(Pointwise) || node.op == Op::Dequantize || node.op == Op::Transpose;
}

bool comes_from_constants(const Graph& graph, Value v, int depth) {
  if (v.is_none() || constant_of(graph, v)) return true;
  const Node& node = graph.node(v);
  const Type& type = graph.type(v);
  if (depth == 0 || !is_elementwise(node) || node.types.size() != 1 || !is_static(type)) return false;
  if (element_count(static_shape(type)) > kMostElements) return false;
  return std::ranges::all_of(node.operands,
                             [&](Value operand) { return comes_from_constants(graph, operand, depth - 1); });
}

}  // namespace

bool has_derived_weights(const Graph& graph, const Node& node) {
  if (node.op != Op::MatMul || constant_of(graph, node.operands[1])) return false;
  const Type& type = graph.type(node.operands[1]);
  if (type.dtype != DType::f32 || !is_static(type) || type.dims->size() != 2) return false;
  return comes_from_constants(graph, node.operands[1], kMostDepth) && !find_quantised(graph, node) &&
         !find_block_quantised(graph, node) && is_tile_anchor(graph, node);
}

std::string derived_name(const Graph& graph, Value v, const std::function<std::string(Value)>& name_of) {
  if (v.is_none()) return "none";
  if (constant_of(graph, v)) return name_of(v);
  const Node& node = graph.node(v);
  std::string name =
      fmt::format("{}{} {}(", to_string(node.op), print_attrs(node.attrs), to_string(node.types[0].dtype));
  for (Value operand : node.operands) name += derived_name(graph, operand, name_of) + ";";
  return name + ")";
}

Tensor derive_weights(const Graph& graph, Value v) {
  if (const Tensor* constant = constant_of(graph, v)) return constant->aligned();
  std::vector<Datum> operands;
  for (Value operand : graph.node(v).operands)
    operands.push_back(operand.is_none() ? Datum() : Datum(derive_weights(graph, operand)));
  return reference::evaluate_node(graph.node(v), operands).at(0).tensor();
}

}  // namespace ingot::cpu
