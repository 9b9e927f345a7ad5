#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

// What an allocation is for.
enum class MemoryPurpose {
  weights,     // constants, copied, folded or packed: as long as the engine, or the build
  activation,  // intermediate values and scratch: as long as the context, or the inference
  output,      // outputs that run() hands out: as long as the application keeps them
};

INGOT_API std::string_view to_string(MemoryPurpose purpose);

// Bytes that an engine and one of its contexts need, by what they are for. The memory that a context computes
// in, its enqueue memory, lies between `activation` and `activation` + `scratch`: scratch uses what no value
// needs meanwhile. On the CPU host and device are one memory.
struct MemoryUse {
  uint64_t host_persistent = 0;    // tables of a context, from its creation to its end
  uint64_t device_persistent = 0;  // the same on the device; 0 on the CPU
  uint64_t scratch = 0;            // most that a single step needs besides values
  uint64_t activation = 0;         // the largest set of intermediate values alive at once
  uint64_t weights = 0;            // of the file, and in the form that kernels read
};

// Gives memory for everything that is as large as a tensor; what it is told of is listed in docs/memory.md.
// Attached to a builder or a runtime, which keep it alive as long as something that it gave is in use. Any
// thread, several at once.
class INGOT_API Allocator {
 public:
  virtual ~Allocator();

  // At least `size` bytes, never 0, at a multiple of `alignment`, a power of two; null refuses, which the
  // call at hand reports as Error(out_of_memory), and the object it was made on stays usable. Must not call
  // the library.
  virtual void* allocate(size_t size, size_t alignment, MemoryPurpose purpose) noexcept = 0;
  // What allocate() gave, with the size that was asked for.
  virtual void deallocate(void* memory, size_t size) noexcept = 0;
};

// Who sizes and owns the memory that a context computes in (intermediate values and scratch, the enqueue
// memory), and when. What the block cannot hold, since only running can tell its size, is allocated beside
// it.
enum class AllocationStrategy {
  // One block, made with the context, for the largest shapes of any profile. Where sizes have no upper bound:
  // as_needed.
  fixed,
  // A block for the largest shapes of the profile at hand, made again by set_profile().
  on_profile_change,
  // The application's, by Context::set_memory().
  user_managed,
  // Memory that grows with the shapes that come, and stays.
  as_needed,
};

INGOT_API std::string_view to_string(AllocationStrategy strategy);

// What the address of memory for Context::set_memory() must be a multiple of, on every device.
inline constexpr size_t kMemoryAlignment = 256;

}  // namespace ingot
