#include "ir/decompose_rules.h"
#include "ir/small_constants.h"

namespace ingot {

std::vector<Value> decompose_gemm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<GemmAttrs>();
  auto scaled = [&](Value v, double factor) { return factor == 1 ? v : g.mul(v, scalar_like(g, v, factor)); };
  Value left = a.transpose_a ? g.transpose(in[0]) : in[0];
  Value right = a.transpose_b ? g.transpose(in[1]) : in[1];
  Value product = scaled(g.matmul(left, right), a.alpha);
  if (in.size() < 3 || in[2].is_none() || a.beta == 0) return {product};
  return {g.add(product, scaled(in[2], a.beta))};
}

}  // namespace ingot
