#pragma once

#include <span>

#include "base/thread_pool.h"
#include "device/cpu/view.h"
#include "ingot/graph.h"

// Compiled C++ for what is irregular: one routine per op, with exactly the meaning of the reference device.
namespace ingot::cpu {

// Stands for an operand that is not given, and for an output that nobody reads.
inline constexpr View kAbsent = {.rank = -1};
inline bool is_absent(const View& view) { return view.rank < 0; }

// A node with its operands and outputs, in the order of the node.
struct RoutineCall {
  const Node& node;
  std::span<const View> in;
  std::span<View> out;
  ThreadPool& pool;              // run() shares out its loops here
  std::byte* scratch = nullptr;  // scratch_bytes(), 64-byte aligned
};

struct Routine {
  // Whether it runs with views of these types and ranks; sizes, strides and data are not looked at.
  bool (*supports)(const RoutineCall&);

  // Memory that run() and measure() need. Looks at sizes, strides and the size of the pool, not at data.
  // Null: none.
  int64_t (*scratch_bytes)(const RoutineCall&) = nullptr;

  // Ops whose sizes may depend on data: sets ranks and sizes of the outputs, which need no memory yet, from
  // the operands' data. Need not be called where they are known; run() refuses outputs of other sizes.
  void (*measure)(const RoutineCall&) = nullptr;

  // Fills the outputs. Allocates nothing; throws Error(invalid_argument) for what the reference device
  // refuses.
  void (*run)(const RoutineCall&) = nullptr;

  // run() copies the first operand to the first output, then changes some of that.
  bool changes_copy = false;
};

// Null where the op has no routine.
const Routine* find_routine(Op op);

}  // namespace ingot::cpu
