#include "device/cpu/lowered_ops.h"

#include <algorithm>

#include "device/cpu/groups.h"
#include "device/cpu/lower_attention.h"
#include "device/cpu/quantised.h"
#include "device/cpu/routine.h"
#include "ir/decompose.h"
#include "ir/op_info.h"

namespace ingot::cpu {

bool lowers_whole(const Graph& graph, const Node& node) {
  if (is_fusable_pointwise(graph, node)) return true;
  if (node.op == Op::Attention) return takes_attention(graph, node);
  if (find_routine(node.op) || is_tile_matmul_integer(graph, node)) return true;
  // The reference device decomposes for itself where this device has no better way.
  return find_decomposition(node.op) == nullptr;
}

bool is_never_whole(const Node& node) {
  const OpInfo& info = op_info(node.op);
  return info.is(Composite) && info.is(RowWise) && !info.is(Pointwise) && !find_routine(node.op) &&
         find_decomposition(node.op) && std::ranges::all_of(node.types, &Type::is_ranked);
}

}  // namespace ingot::cpu
