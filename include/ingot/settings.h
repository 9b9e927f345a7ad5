#pragma once

#include <string>
#include <string_view>

#include "ingot/export.h"

// Settings of a runtime that devices understand in their own way, and what becomes of them.
namespace ingot {

// Whether a device that launches kernels records the launches of an inference once and replays them as one,
// until a shape or an address changes.
enum class CaptureStrategy {
  none,
  whole_graph,
};

INGOT_API std::string_view to_string(CaptureStrategy strategy);

// A field of RuntimeConfig that was set but that the device has no use for.
struct IgnoredSetting {
  std::string name;  // of the field
  std::string reason;
};

}  // namespace ingot
