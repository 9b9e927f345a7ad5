#pragma once

#include <string>
#include <string_view>

#include "engine/stored.h"

namespace ingot {

[[noreturn]] inline void corrupt(std::string name, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::corrupt,
               .object = "engine metadata",
               .name = std::move(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Build it again with 'ingot compile'."});
}

inline std::string_view view(const flatbuffers::String* text) { return {text->c_str(), text->size()}; }

}  // namespace ingot
