#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/blobs.h"
#include "engine/budget.h"
#include "engine/stored.h"
#include "ingot/graph.h"

namespace ingot {

// Where large constants come from: the weights section, or zeros in its place when it was stripped.
struct BlobSource {
  std::span<const BlobRange> ranges;
  std::span<const std::byte> weights;
  std::shared_ptr<const void> owner;
  std::shared_ptr<const std::byte> zeros;  // null unless stripped
  std::vector<bool> is_used;               // set by who reads a blob
};

// Rebuilds one graph through the graph builder. `types` is the table of the engine, `earlier` the graphs
// before this one; ops must be known.
Graph decode_graph(const stored::Graph& stored, std::span<const Type> types,
                   std::span<const GraphPtr> earlier, BlobSource& blobs, Budget& budget);

}  // namespace ingot
