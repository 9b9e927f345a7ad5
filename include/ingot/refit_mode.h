#pragma once

#include <cstdint>

namespace ingot {

// Which weights of an engine can be replaced after it was built.
enum class RefitMode : uint8_t {
  none,        // none; a stripped engine takes back what it was built with
  whole,       // all of them
  individual,  // those that are named
  identical,   // all of them, by the same content only: for stripped engines that are filled by name
};

}  // namespace ingot
