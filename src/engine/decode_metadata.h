#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/engine_file.h"
#include "engine/header.h"

namespace ingot {

// What decode_metadata() reads: `metadata` and `weights` are the two sections, kept alive by `owner`.
struct EngineSections {
  EngineHeader header;
  std::span<const std::byte> metadata;
  std::span<const std::byte> weights;
  std::shared_ptr<const void> owner;
  bool is_deferred = false;  // `weights` is not there yet: zeros in its place
};

// Rebuilds the content from the sections. Throws Error: incompatible, corrupt, out_of_memory, and
// invalid_argument for a graph that breaks a rule.
EngineContent decode_metadata(const EngineSections& sections);

}  // namespace ingot
