#include "ingot/error.h"
#include "kernel/llvm/emit.h"

// Stand in until emit_nest.cpp and emit_tile.cpp are there.
namespace ingot::kernel {

__attribute__((weak)) void emit_nest(llvm::Module&, const LoopNest&, const Target&) {
  throw Error({.code = ErrorCode::unsupported, .object = "kernel", .observed = "a loop nest"});
}
__attribute__((weak)) void emit_tile(llvm::Module&, const TileKernel&, const Target&) {
  throw Error({.code = ErrorCode::unsupported, .object = "kernel", .observed = "a tile"});
}

}  // namespace ingot::kernel
