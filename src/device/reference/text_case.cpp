#include "device/reference/text_case.h"

#include <cstdint>

namespace ingot::reference {
namespace {

bool within(uint32_t c, uint32_t first, uint32_t last) { return first <= c && c <= last; }

// Letters whose two cases are neighbours, the capital even or odd.
bool capital_is_even(uint32_t c) {
  return within(c, 0x100, 0x12f) || within(c, 0x132, 0x137) || within(c, 0x14a, 0x177) ||
         within(c, 0x460, 0x481) || within(c, 0x48a, 0x4bf) || within(c, 0x4d0, 0x52f);
}
bool capital_is_odd(uint32_t c) {
  return within(c, 0x139, 0x148) || within(c, 0x179, 0x17e) || within(c, 0x4c1, 0x4ce);
}

uint32_t lower(uint32_t c) {
  if (within(c, 'A', 'Z') || (within(c, 0xc0, 0xde) && c != 0xd7) ||
      (within(c, 0x391, 0x3ab) && c != 0x3a2) || within(c, 0x410, 0x42f))
    return c + 0x20;
  if (within(c, 0x400, 0x40f)) return c + 0x50;
  if (c == 0x178) return 0xff;
  if (c == 0x386) return 0x3ac;
  if (within(c, 0x388, 0x38a)) return c + 37;
  if (c == 0x38c) return 0x3cc;
  if (within(c, 0x38e, 0x38f)) return c + 63;
  if (capital_is_even(c)) return c | 1;
  if (capital_is_odd(c)) return c + (c & 1);
  return c;
}

uint32_t upper(uint32_t c) {
  if (within(c, 'a', 'z') || (within(c, 0xe0, 0xfe) && c != 0xf7) ||
      (within(c, 0x3b1, 0x3cb) && c != 0x3c2) || within(c, 0x430, 0x44f))
    return c - 0x20;
  if (within(c, 0x450, 0x45f)) return c - 0x50;
  if (c == 0xff) return 0x178;
  if (c == 0x3ac) return 0x386;
  if (within(c, 0x3ad, 0x3af)) return c - 37;
  if (c == 0x3c2) return 0x3a3;
  if (c == 0x3cc) return 0x38c;
  if (within(c, 0x3cd, 0x3ce)) return c - 63;
  if (capital_is_even(c)) return c & ~1u;
  if (capital_is_odd(c)) return c - (c & 1 ? 0 : 1);
  return c;
}

// Only characters of one or two bytes have letters that map here; the two forms of a letter are equally long.
template <class Map>
std::string mapped(std::string_view text, Map map) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    auto first = static_cast<unsigned char>(out[i]);
    if (first < 0x80) {
      out[i] = static_cast<char>(map(first));
    } else if (within(first, 0xc2, 0xdf) && i + 1 < out.size()) {
      auto second = static_cast<unsigned char>(out[i + 1]);
      if ((second & 0xc0) != 0x80) continue;
      uint32_t c = map(static_cast<uint32_t>((first & 0x1f) << 6 | (second & 0x3f)));
      out[i] = static_cast<char>(0xc0 | c >> 6);
      out[++i] = static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return out;
}

}  // namespace

std::string lower_case(std::string_view text) { return mapped(text, lower); }
std::string upper_case(std::string_view text) { return mapped(text, upper); }

}  // namespace ingot::reference
