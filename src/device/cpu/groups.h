#pragma once

#include <vector>

#include "ingot/graph.h"

namespace ingot::cpu {

enum class GroupKind : uint8_t {
  view,       // one node, whose output is a view of its first operand where strides allow
  nest,       // pointwise nodes and reductions in one loop nest
  tile,       // a contraction or pooling (the anchor) and the pointwise nodes after it
  attention,  // one node
  routine,    // one node run by compiled C++, or by the reference device where there is none
};

// Nodes that one kernel computes; only the outputs of the last one, the root, are read by others.
struct Group {
  GroupKind kind = GroupKind::routine;
  std::vector<int32_t> nodes = {};  // ascending
  int32_t anchor = -1;              // of tiles
  Shape domain = {};                // of nests: the points before reduction
  std::vector<bool> reduced = {};   // of nests: by axis of the domain; empty without reductions

  int32_t root() const { return nodes.back(); }
};

// Groups of a static graph in an order in which they can run; inputs and constants belong to none.
std::vector<Group> partition(const Graph& graph);

// A pointwise node that loop nests can compute.
bool is_fusable_pointwise(const Graph& graph, const Node& node);
// A node that tiles can compute: matmul, conv, max_pool, average_pool in f32 and of a supported form.
bool is_tile_anchor(const Graph& graph, const Node& node);
// A matrix product, of known shapes, whose batch axes are few enough for the axes of a tile problem.
bool has_walkable_batch(const Graph& graph, const Node& node);
bool is_view_op(const Graph& graph, const Node& node);
// Axes of a reduction made of constants; sorted.
std::vector<int64_t> reduction_axes(const Graph& graph, const Node& node);

const Tensor* constant_of(const Graph& graph, Value v);  // null where v is no constant

}  // namespace ingot::cpu
