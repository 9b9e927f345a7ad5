#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Texts as NumPy's arrays hold them: items of one width, padded with zeros.
namespace ingot {

// Little-endian UTF-32, up to the padding, as UTF-8. Throws Error(corrupt), naming `place`, for a number that
// is no character.
std::string utf8_from_utf32(std::span<const std::byte> item, std::string_view place);

std::string bytes_until_padding(std::span<const std::byte> item);

struct TextArray {
  std::string descr;  // "<U7", or "|S7" where an item is not UTF-8
  size_t item_size = 0;
  std::vector<std::string> items;  // not longer than item_size
};
TextArray text_array(std::span<const std::string> strings);

}  // namespace ingot
