#include "kernel/generator_digest.h"
#include "kernel/jit_library.h"
#include "kernel/llvm/compile.h"

extern "C" __attribute__((visibility("default")))
const ingot::kernel::JitLibrary ingot_jit = {ingot::kGeneratorDigest, &ingot::kernel::llvm_compiler};
