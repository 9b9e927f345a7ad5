#include "ingot/error.h"
#include "kernel/llvm/emit.h"

// Stands in until emit_nest.cpp is there.
namespace ingot::kernel {

__attribute__((weak)) void emit_nest(llvm::Module&, const LoopNest&, const Target&) {
  throw Error({.code = ErrorCode::unsupported, .object = "kernel", .observed = "a loop nest"});
}
}  // namespace ingot::kernel
