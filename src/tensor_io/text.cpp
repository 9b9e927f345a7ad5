#include "tensor_io/text.h"

#include <optional>

#include "ingot/error.h"

namespace ingot {
namespace {

bool is_character(uint32_t code) { return code < 0xd800 || (code > 0xdfff && code <= 0x10ffff); }

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  out += static_cast<char>((0xff00 >> (more + 1) & 0xff) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
}

// Nothing where the text is not UTF-8.
std::optional<std::string> utf32_from_utf8(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    const int more = first < 0x80       ? 0
                     : first >> 5 == 6  ? 1
                     : first >> 4 == 14 ? 2
                     : first >> 3 == 30 ? 3
                                        : -1;
    if (more < 0) return std::nullopt;
    uint32_t code = more == 0 ? first : first & (0x3f >> more);
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return std::nullopt;
      code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (!is_character(code) || code < kSmallest[more]) return std::nullopt;
    for (int k = 0; k < 4; ++k) out += static_cast<char>(code >> (8 * k));
  }
  return out;
}

}  // namespace

std::string utf8_from_utf32(std::span<const std::byte> item, std::string_view place) {
  std::string out;
  size_t zeros = 0;  // may be padding; NUL characters within a text are kept
  for (size_t i = 0; i + 4 <= item.size(); i += 4) {
    uint32_t code = 0;
    for (size_t k = 0; k < 4; ++k) code |= std::to_integer<uint32_t>(item[i + k]) << (8 * k);
    if (code == 0) {
      ++zeros;
      continue;
    }
    if (!is_character(code))
      throw Error({.code = ErrorCode::corrupt,
                   .object = std::string(place),
                   .expected = "a Unicode character",
                   .observed = fmt::format("{:#x}", code),
                   .remedy = "Write the file again with NumPy."});
    out.append(std::exchange(zeros, 0), '\0');
    append_utf8(out, code);
  }
  return out;
}

std::string bytes_until_padding(std::span<const std::byte> item) {
  std::string out(reinterpret_cast<const char*>(item.data()), item.size());
  out.resize(out.find_last_not_of('\0') + 1);
  return out;
}

TextArray text_array(std::span<const std::string> strings) {
  TextArray out;
  bool all_utf8 = true;
  for (const std::string& s : strings) {
    auto wide = utf32_from_utf8(s);
    if (!(all_utf8 = wide.has_value())) break;
    out.items.push_back(std::move(*wide));
  }
  if (!all_utf8) out.items.assign(strings.begin(), strings.end());
  const size_t unit = all_utf8 ? 4 : 1;
  out.item_size = unit;  // NumPy has no empty items
  for (const std::string& item : out.items) out.item_size = std::max(out.item_size, item.size());
  out.descr = fmt::format("{}{}", all_utf8 ? "<U" : "|S", out.item_size / unit);
  return out;
}

}  // namespace ingot
