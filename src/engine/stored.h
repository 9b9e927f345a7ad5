#pragma once

// The generated readers and writers of engine.fbs. A broken invariant of the library throws instead of ending
// the process.
#include "ingot/error.h"

namespace ingot {
inline void check_stored(bool condition) {
  if (!condition)
    throw Error({.code = ErrorCode::internal, .object = "engine metadata", .observed = "a broken invariant"});
}
}  // namespace ingot

#define FLATBUFFERS_ASSERT(condition) ::ingot::check_stored(static_cast<bool>(condition))
#include <engine_generated.h>
