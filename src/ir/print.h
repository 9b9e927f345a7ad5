#pragma once

#include <string>

#include "ingot/graph.h"

// The text form of a graph, which parse_graph() reads back to an equal graph:
//
//   graph "scorer" {
//     symbol batch in [1, 64]
//     %0 = input "x" : f32[batch, 784]
//     %1 = constant i64[2] [-1, 10]
//     %2 = softmax(%0) {axis = 1} : f32[batch, 784] @"/head/Softmax"
//     %3:2 = top_k(%2, %1) : f32[batch, 5], i64[batch, 5]
//     output "y" = %3#0
//   }
//
// `_` stands for an absent operand, `@` gives the origin of a node, subgraphs follow the attributes in
// parentheses. Attributes with their default value are left out.
namespace ingot {

struct PrintOptions {
  // Constants with more elements are written as hexadecimal bytes ...
  int64_t largest_list = 64;
  // ... and above this many bytes as `...`, which does not parse back. 0: never.
  int64_t largest_constant = 0;
};

std::string print(const Graph& graph, const PrintOptions& options = {});

// "{axis = 1, mode = \"linear\"}" or nothing when all attributes have their default.
std::string print_attrs(const Attrs& attrs);

}  // namespace ingot
