#pragma once

#include <string>

#include "ingot/graph.h"

namespace ingot {

// Runs the pipeline over a graph written as text, with and without `pass`. Fails unless `op` occurs with the
// pass exactly `count` times more than without it, and unless random inputs give the same results as in the
// graph as written, within `tolerance` of the largest value. Symbols become 2, 3, 4 ... in order of their
// names. Returns the text of the optimised graph.
std::string expect_recognised(const std::string& body, std::string_view pass, std::string_view op,
                              size_t count = 1, double tolerance = 1e-5);

// The pipeline with `pass` gives another graph than without it, and the same results as no pass at all,
// within `tolerance`. Returns the text of the optimised graph.
std::string expect_pass_acts(const std::string& body, std::string_view pass, double tolerance);

// The pipeline leaves no such op.
void expect_not_recognised(const std::string& body, std::string_view op);

}  // namespace ingot
