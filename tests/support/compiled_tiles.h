#pragma once

#include <map>
#include <memory>

#include "device/cpu/tile_plan.h"
#include "kernel/compiler.h"
#include "kernel/executable_memory.h"

namespace ingot::testing {

// Tiles compiled for these heights. Their code stays for later calls that ask for the same.
inline cpu::TileFunctions compile_tiles(const kernel::Target& target, const cpu::TileTypes& types,
                                        const cpu::TileChoice& choice, const kernel::LoopNest& epilogue,
                                        const std::vector<int>& heights) {
  static std::map<std::string, std::shared_ptr<const kernel::ExecutableMemory>> known;
  cpu::TileFunctions functions = {};
  for (const auto& tile : cpu::tile_kernels(types, choice, epilogue, heights)) {
    auto& code = known[kernel::kernel_key(tile, target)];
    if (!code) code = kernel::ExecutableMemory::copy(kernel::compiler().compile(tile, target));
    functions.set(tile.rows, code->function<kernel::TileFunction>(), tile.rows);
  }
  return functions;
}

}  // namespace ingot::testing
