#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What the steps of a program are and how long they took: Context::set_profiling and
// Context::execution_profile in runtime.h.
namespace ingot {

// Machine code that steps call. Steps with equal work share it.
struct KernelInfo {
  std::string key;     // names it in every cache
  std::string origin;  // where this process got it: registry, embedded, image, entry or compiled
  std::string text;    // its loops, in the canonical form
  uint64_t code_bytes = 0;
};

// One step of a program that a device prepared for certain sizes.
struct StepInfo {
  std::string name;  // of the node of the model where it ends
  // What runs it: tile, nest, pack, routine, copy, fill and others of the device; control: a branch or loop,
  // whose steps are apart; reference: the reference device, for want of anything else.
  std::string kind;
  std::string detail;  // sizes and schedule
  std::vector<std::string> reads =
      {};  // type, shape and the order of axes in memory where it is not row-major
  std::vector<std::string> writes = {};
  double flops = 0;       // arithmetic operations; a multiply-add is two
  bool integers = false;  // most of them products of 8-bit integers
  double bytes = 0;       // of all operands, each once
  std::vector<KernelInfo> kernels = {};
};

// A step and its runs while profiling was on. A step that runs a body (a loop) does not count the steps in
// it.
struct StepProfile {
  StepInfo info;
  uint64_t runs = 0;
  double seconds = 0;         // of all runs together
  double min_seconds = 0;     // of the fastest run
  double median_seconds = 0;  // of the last 256 runs
};

// A stretch of work.
struct StepEvent {
  uint32_t step = 0;   // ExecutionProfile::steps
  int32_t thread = 0;  // 0: the thread that runs the inference; others: a thread of the device that helped
  double start = 0;    // seconds since profiling was switched on
  double seconds = 0;
};

struct ExecutionProfile {
  std::string target;  // what kernels were made for, as "avx512"
  int threads = 1;     // of one inference
  uint64_t inferences = 0;
  double seconds = 0;  // of all inferences together, whatever part of it no step explains included
  std::vector<StepProfile> steps;  // in the order of their first run
  std::vector<StepEvent> events;   // by their ends; the first million
  uint64_t dropped_events = 0;     // beyond these
};

// What the threads of one inference reach at best; 0 where a device does not say.
struct MachineSpeed {
  double flops = 0;             // f32 operations a second, a multiply-add counting as two
  double integer_products = 0;  // the same of 8-bit integers that are summed in 32 bits
  double bytes = 0;             // a second, read from memory that no cache holds
};

// A kernel for people.
struct KernelListing {
  std::string llvm_ir;
  std::string assembly;
};

}  // namespace ingot
