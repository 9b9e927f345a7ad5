#pragma once

#include <string>
#include <string_view>

namespace ingot::reference {

// One-to-one case mapping of UTF-8 text: ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic letters. All
// else stays as it is, also where the full mapping changes length (German sharp s). The same on every host,
// whatever the locale.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

}  // namespace ingot::reference
