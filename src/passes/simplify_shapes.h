#pragma once

#include "ingot/graph.h"

namespace ingot {

// Writes shape arithmetic in one short form. A vector of sizes, however it was computed, becomes sizes read
// from the first values that have them, joined with constants. The sizes of a reshape become a constant where
// one -1 and copies (0) can say the same for every size the symbols may take. Wants known constants: run
// fold_constants before, remove_dead_code after. No result changes.
Graph simplify_shapes(const Graph& graph);

}  // namespace ingot
