#include "passes/fold_constants.h"

#include "base/checked.h"
#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ir/inline_graph.h"
#include "ir/op_info.h"
#include "passes/rewrite.h"

namespace ingot {
namespace {

constexpr size_t kAlways = size_t{1} << 20;
constexpr size_t kNever = size_t{16} << 20;

// Bytes of all outputs; empty where a size is unknown.
std::optional<size_t> output_bytes(const Node& node) {
  size_t total = 0;
  for (const Type& type : node.types) {
    if (!type.is_ranked()) return std::nullopt;
    int64_t count = 1;
    for (const Dim& d : *type.dims) {
      auto product = d.is_constant() ? try_mul(count, d.constant()) : std::nullopt;
      if (!product) return std::nullopt;
      count = *product;
    }
    total += type.dtype == DType::string ? static_cast<size_t>(count) * 16 : byte_size(type.dtype, count);
  }
  return total;
}

bool worth_folding(const Node& node, size_t operand_bytes) {
  auto bytes = output_bytes(node);
  // Weights of few bits stay so: a device may compute with them as they are.
  if (node.op == Op::Dequantize) return bytes && *bytes <= operand_bytes;
  // A data-dependent result, such as nonzero of a constant, is bounded by its operands in all ops that have
  // one.
  if (!bytes) return operand_bytes <= kAlways;
  return *bytes <= kAlways || (*bytes <= operand_bytes && *bytes <= kNever);
}

bool can_fold(const Node& node) {
  const OpInfo& info = op_info(node.op);
  if (info.is(Random) || info.is(Control) || info.is(Source) || !node.subgraphs.empty()) return false;
  return std::ranges::all_of(node.types, &Type::is_tensor);
}

std::optional<std::vector<Value>> fold_node(Rewriter& r, const Node& node, std::span<const Value> operands) {
  if (!can_fold(node)) return std::nullopt;
  std::vector<Datum> data;
  size_t bytes = 0;
  for (Value v : operands) {
    auto constant = r.constant(v);
    if (!v.is_none() && !constant) return std::nullopt;
    if (constant) bytes += constant->bytes().size();
    data.push_back(constant ? Datum(*constant) : Datum());
  }
  if (!worth_folding(node, bytes)) return std::nullopt;
  std::vector<Value> out;
  for (const Datum& datum : reference::evaluate_node(node, data))
    out.push_back(r.g().constant(datum.tensor()));
  return out;
}

// The rule of the node runs when it is added, and shape arithmetic with it; a node whose content is then
// known is left dead behind its constant.
std::optional<std::vector<Value>> fold_known_values(Rewriter& r, const Node& node,
                                                    std::span<const Value> operands) {
  const OpInfo& info = op_info(node.op);
  if (info.is(Control) || info.is(Source) || node.types.size() != 1 || !node.types[0].is_ranked())
    return std::nullopt;
  if (node.types[0].dtype != DType::i64 || node.types[0].dims->size() > 1) return std::nullopt;
  Value v = r.g().add(node.attrs, std::vector<Value>(operands.begin(), operands.end()))[0];
  auto known = r.g().known_values(v);
  if (!known || !std::ranges::all_of(*known, &Dim::is_constant)) return std::vector<Value>{v};
  Shape shape;
  for (const Dim& d : r.g().dims(v))
    shape.push_back(d.is_constant() ? d.constant() : static_cast<int64_t>(known->size()));
  std::vector<int64_t> values;
  for (const Dim& d : *known) values.push_back(d.constant());
  return std::vector<Value>{r.g().constant(Tensor::of(std::move(shape), values))};
}

// A branch that is known to be taken stands for both; what comes after it then knows its sizes.
std::optional<std::vector<Value>> take_branch(Rewriter& r, const Node& node,
                                              std::span<const Value> operands) {
  if (node.op != Op::If) return std::nullopt;
  const std::optional<Tensor> condition = r.constant(operands[0]);
  if (!condition) return std::nullopt;
  const size_t branch = condition->aligned().data<bool>()[0] ? 0 : 1;
  return inline_graph(r.g(), *node.subgraphs[branch], operands.subspan(1));
}

}  // namespace

Graph fold_constants(const Graph& graph) {
  return rewrite(graph, [](Rewriter& r, const Node& node, std::span<const Value> operands) {
    auto folded = take_branch(r, node, operands);
    if (!folded) folded = fold_node(r, node, operands);
    return folded ? folded : fold_known_values(r, node, operands);
  });
}

}  // namespace ingot
