#pragma once

#include <vector>

#include "ingot/graph.h"

namespace ingot::cpu {

// A graph cut where sizes depend on data: parts whose sizes all follow from those of their inputs, and host
// nodes between them, which run one by one on whole tensors (control flow, sequences, text, data-dependent
// sizes).
struct Part {
  Graph graph;                 // its inputs are values of the whole graph
  std::vector<Value> inputs;   // in the order of graph.inputs()
  std::vector<Value> outputs;  // in the order of graph.outputs()
};

struct Stage {
  int32_t part = -1;  // index of a part, or
  int32_t node = -1;  // a host node
};

struct Parts {
  std::vector<Part> parts;
  std::vector<Stage> stages;  // in the order to run
};

Parts cut_graph(const Graph& graph);

}  // namespace ingot::cpu
