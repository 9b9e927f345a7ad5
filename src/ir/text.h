#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

// "a\"b" with \" \\ \n \t and \xNN for other control bytes.
std::string quote(std::string_view text);

// Lower-case hexadecimal digits, two a byte.
std::string hex(std::span<const std::byte> bytes);

}  // namespace ingot
