#pragma once

#include <span>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

// Adds to `g` the derivatives of the sum of all elements of `y` with respect to each of `xs`, each of the
// shape of its x, by reverse accumulation (Linnainmaa 1970) over the nodes between them. A value that y does
// not depend on has the derivative zero. Throws Error(unsupported) for an op between them that has no rule
// here, or that broadcasts.
std::vector<Value> gradients(GraphBuilder& g, Value y, std::span<const Value> xs);

}  // namespace ingot
