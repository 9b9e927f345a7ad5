#pragma once

#include "kernel/compiler.h"

namespace ingot::kernel {

// What libingot_jit exports, as `ingot_jit`. The first member never changes its place: it tells other builds
// apart.
struct JitLibrary {
  const char* generator_digest;
  const Compiler& (*compiler)();
};
inline constexpr char kJitSymbol[] = "ingot_jit";

}  // namespace ingot::kernel
