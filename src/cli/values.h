#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/profile.h"
#include "ingot/tensor.h"

// Values of options. Each throws UsageError that names the option and the text.
namespace ingot::cli {

// "NAME=VALUE" at the first '='. Both are there.
std::pair<std::string, std::string> parse_assignment(std::string_view option, std::string_view text);

int64_t parse_number(std::string_view option, std::string_view text);
Shape parse_shape(std::string_view option,
                  std::string_view text);  // "1x3x224x224"; "scalar" has no dimension
uint64_t parse_byte_count(std::string_view option,
                          std::string_view text);  // "750000", "1.5G": k, M, G are powers of 1000

// "NAME:VALUE,NAME:VALUE" as trtexec has it, as "NAME=VALUE" each. The last colon counts; "=" may stand for
// it.
std::vector<std::string> parse_colon_list(std::string_view option, std::string_view text);

// "a,b,c"; no item is empty.
std::vector<std::string> parse_list(std::string_view option, std::string_view text);

// "90,95,99.9": numbers between 0 and 100, 0 excluded.
std::vector<double> parse_percentiles(std::string_view option, std::string_view text);

// "NAME=SHAPE" and "NAME=SIZE", each name once.
std::map<std::string, Shape> parse_shapes(std::string_view option, const std::vector<std::string>& texts);
std::map<std::string, int64_t> parse_sizes(std::string_view option, const std::vector<std::string>& texts);

// "NAME=MIN:OPT:MAX" or "NAME=FIXED", followed by "@PROFILE" where there are several profiles. Profiles come
// in the order in which they are first named; without "@" it is the one called "default".
std::vector<Profile> parse_profiles(const std::vector<std::string>& shapes,
                                    const std::vector<std::string>& dims);

}  // namespace ingot::cli
