#pragma once

#include <cstdint>
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

// The verifier of FlatBuffers 2.0 checks the alignment of a vector's length only, not of 8-byte elements
// behind it.
template <class T>
void require_aligned(const flatbuffers::Vector<T>& stored) {
  if (stored.size() > 0 && reinterpret_cast<uintptr_t>(stored.Data()) % sizeof(T) != 0)
    corrupt("list of numbers", fmt::format("elements at a multiple of {} bytes", sizeof(T)),
            "another offset");
}

inline std::string_view view(const flatbuffers::String* text) { return {text->c_str(), text->size()}; }

}  // namespace ingot
