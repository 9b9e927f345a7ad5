#pragma once

#include "ingot/graph.h"

namespace ingot {

// exp(x - max) / sum of it becomes softmax, and x - max - log(sum) log_softmax. Only with the maximum taken
// off, since without it large values overflow and the results differ. Run after canonicalise and
// merge_duplicates.
Graph recognise_softmax(const Graph& graph);

}  // namespace ingot
