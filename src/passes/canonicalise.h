#pragma once

#include "ingot/graph.h"

namespace ingot {

// Removes nodes that change nothing, exactly (a cast to the same type, a reshape to the same shape, a
// transpose that keeps the order, a product with one), merges chains of reshapes, transposes and
// concatenations, and puts the constant operand of commutative ops second, so that later passes see one form.
// No result changes by a bit.
Graph canonicalise(const Graph& graph);

}  // namespace ingot
