#pragma once

#include <cstdint>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

// The engine file format: what this version writes, and the oldest that it still reads.
inline constexpr uint32_t kEngineFormatVersion = 1;
inline constexpr uint32_t kOldestEngineFormatVersion = 1;

// Version of the library that is linked, "major.minor.patch". Any thread; the text lives as long as the
// program.
INGOT_API std::string_view version();

// The compiler that the library was built with, as "GCC 12.2.0". Any thread; lives as long as the program.
INGOT_API std::string_view compiler();

}  // namespace ingot
