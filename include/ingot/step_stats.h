#pragma once

#include <cstdint>
#include <string>

namespace ingot {

// One step of what a device made from a graph: a kernel, or a node that it runs otherwise.
struct StepStats {
  std::string name;         // of the graph node it stands for
  std::string description;  // kind, sizes, schedule, on one line
  double flops = 0;         // of one run; 0 where nobody counted
  double bytes = 0;         // read and written by one run
  uint64_t runs = 0;        // of its context so far
  double seconds = 0;       // of all these runs
};

}  // namespace ingot
