#pragma once
// Builds protobuf messages by hand, for tests: each function returns the bytes of one field.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ingot::wire_bytes {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out += static_cast<char>(value);
}

inline std::string key(uint32_t field, int type) { return varint(uint64_t{field} << 3 | type); }

inline std::string number(uint32_t field, int64_t value) {
  return key(field, 0) + varint(static_cast<uint64_t>(value));
}

// A text, a byte string, a nested message, or packed values.
inline std::string block(uint32_t field, std::string_view content) {
  return key(field, 2) + varint(content.size()) + std::string(content);
}

// The little-endian bytes of a number.
template <class T>
std::string little_endian(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

inline std::string fixed32(uint32_t field, float value) { return key(field, 5) + little_endian(value); }

}  // namespace ingot::wire_bytes
