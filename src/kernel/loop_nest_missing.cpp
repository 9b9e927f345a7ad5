#include "kernel/loop_nest.h"

// Stand in until loop_nest.cpp is there.
namespace ingot::kernel {

__attribute__((weak)) std::string to_string(const LoopNest&) { return "nest"; }
__attribute__((weak)) std::string to_string(const TileKernel&) { return "tile"; }

}  // namespace ingot::kernel
