#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine_file.h"

// Weights that can be replaced stay out of sight while a graph is transformed: they are inputs of it, so
// nothing can be computed from their content.
namespace ingot {

using WeightNames = std::set<std::string, std::less<>>;

// A weight of a model, and the constants that stand for it.
struct ModelWeight {
  std::string name;
  Tensor value;
  std::vector<int32_t> nodes;
};

// Those that the mode selects, sorted by name: constants with a name of their own that something reads.
// Throws Error: invalid_argument for a wanted name that is none, or one that has two contents; unsupported
// where the mode wants all and one has no name or lies in a body of control flow.
std::vector<ModelWeight> find_weights(const Graph& model, RefitMode mode, const WeightNames& wanted);

// The model with inputs in their place, in their order behind its own.
Graph hide_weights(const Graph& model, std::span<const ModelWeight> weights);

// Constants again; `table` tells where those are that something reads.
Graph restore_weights(const Graph& hidden, std::span<const ModelWeight> weights,
                      std::vector<RefitWeight>& table);

// Identifies what is left of a model whose weights are hidden.
Digest structure_of(const Graph& hidden);

}  // namespace ingot
