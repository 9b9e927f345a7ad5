#pragma once

#include <map>
#include <span>
#include <string>

#include "ingot/graph.h"

namespace ingot {

using SymbolSizes = std::map<std::string, int64_t, std::less<>>;

// Checks the data for each input against its declared type and gives the size of every symbol. Throws
// Error(invalid_argument) naming the input: wrong count, kind, dtype, rank or size; a size outside the range
// of its symbol; two sizes for one symbol.
SymbolSizes bind_symbols(const Graph& graph, std::span<const Datum> inputs);

// Value of an expression; empty when a symbol has no size.
std::optional<int64_t> evaluate(const Dim& dim, const SymbolSizes& sizes);

}  // namespace ingot
