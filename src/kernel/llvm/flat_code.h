#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernel/compiler.h"

namespace ingot::kernel {

// Links one x86-64 ELF object by itself: code and read-only data in one piece, the section of the function
// `entry` first, every section at a 64-byte boundary, relative references resolved. Throws Error(internal)
// for anything that would tie the code to a place or to other code: undefined symbols, absolute relocations,
// writable data.
Code link_flat(std::span<const std::byte> object, std::string_view entry);

}  // namespace ingot::kernel
