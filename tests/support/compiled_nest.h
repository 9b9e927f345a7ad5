#pragma once

#include "kernel/executable_memory.h"
#include "kernel/llvm/compile.h"
#include "kernel/schedule.h"

namespace ingot {

// The levels that this machine runs, in order.
inline std::vector<kernel::IsaLevel> runnable_levels() {
  std::vector<kernel::IsaLevel> levels;
  const auto highest = kernel::detect_isa_level();
  for (int level = 0; highest && level <= static_cast<int>(*highest); ++level)
    levels.push_back(static_cast<kernel::IsaLevel>(level));
  return levels;
}

// A nest as machine code, called with scratch of its own.
class CompiledNest {
 public:
  CompiledNest(const kernel::LoopNest& nest, kernel::IsaLevel level)
      : nest_(nest),
        code_(kernel::ExecutableMemory::copy(kernel::llvm_compiler().compile(nest, kernel::Target{level}))) {}

  void operator()(kernel::KernelCall call) {
    scratch_.resize(static_cast<size_t>(kernel::scratch_bytes(nest_, call.sizes)) + 64);
    const auto address = (reinterpret_cast<uintptr_t>(scratch_.data()) + 63) / 64 * 64;
    call.scratch = reinterpret_cast<std::byte*>(address);
    code_->function<kernel::KernelFunction>()(&call);
  }

 private:
  kernel::LoopNest nest_;
  std::shared_ptr<const kernel::ExecutableMemory> code_;
  std::vector<std::byte> scratch_;
};

}  // namespace ingot
