#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ingot {

// Bytes as the test data files write them: two lower-case hexadecimal digits each.
inline std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

inline std::string hex_of(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace ingot
