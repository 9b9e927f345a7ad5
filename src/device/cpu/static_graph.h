#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ingot/graph.h"

namespace ingot::cpu {

// Whether the device lowers a composite node whole; what it does not is decomposed.
using KeepComposite = std::function<bool(const Graph& graph, const Node& node)>;

// The graph for inputs of these shapes: every size is a number, what follows from shapes alone is a constant,
// and composites that are not kept have become simpler nodes. Inputs and outputs keep names and order. Sizes
// that depend on data stay symbols. `input_values`: by input, or none at all; an input with a value counts as
// that constant.
Graph make_static(const Graph& graph, std::span<const Shape> input_shapes,
                  std::span<const std::optional<Tensor>> input_values, const KeepComposite& keep);

// The same graph with the composites decomposed that are kept for no shape, so that make_static need not do
// it for every set of shapes: `never_kept` says which. Sizes stay open.
Graph decompose_ahead(const Graph& graph, const std::function<bool(const Node& node)>& never_kept);

// Whether all sizes are numbers.
bool is_static(const Type& type);
Shape static_shape(const Type& type);  // throws Error(internal) where it is not static

}  // namespace ingot::cpu
