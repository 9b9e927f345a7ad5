#include "cli/values.h"

#include <charconv>
#include <cmath>

#include "cli/arguments.h"

namespace ingot::cli {
namespace {

[[noreturn]] void fail(std::string_view option, std::string_view text, std::string_view expected) {
  throw UsageError(fmt::format("{}: expected {}, found '{}'", option, expected, text));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    out.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

struct Range {
  std::string name;
  std::string profile = "default";
  std::vector<std::string_view> values;  // views of the option's text: one or three
};

Range parse_range(std::string_view option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) fail(option, text, "NAME=MIN:OPT:MAX");
  Range out{.name = text.substr(0, equals), .values = {}};
  std::string_view value = std::string_view(text).substr(equals + 1);
  if (const size_t at = value.rfind('@'); at != std::string_view::npos) {
    out.profile = value.substr(at + 1);
    value = value.substr(0, at);
  }
  out.values = split(value, ':');
  if (out.profile.empty() || (out.values.size() != 1 && out.values.size() != 3))
    fail(option, text, "NAME=MIN:OPT:MAX or NAME=FIXED, and @PROFILE after it if there are several");
  return out;
}

Profile& profile_named(std::vector<Profile>& profiles, const std::string& name) {
  for (Profile& p : profiles)
    if (p.name == name) return p;
  return profiles.emplace_back(Profile{.name = name, .inputs = {}, .dims = {}});
}

}  // namespace

std::pair<std::string, std::string> parse_assignment(std::string_view option, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size())
    fail(option, text, "NAME=VALUE");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

int64_t parse_number(std::string_view option, std::string_view text) {
  int64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 0)
    fail(option, text, "a size, a whole number from 0");
  return value;
}

Shape parse_shape(std::string_view option, std::string_view text) {
  Shape out;
  if (text == "scalar") return out;
  for (std::string_view size : split(text, 'x')) out.push_back(parse_number(option, size));
  return out;
}

uint64_t parse_byte_count(std::string_view option, std::string_view text) {
  double value = 0;
  const char* limit = text.data() + text.size();
  auto [end, status] = std::from_chars(text.data(), limit, value);
  const std::string_view unit(end, static_cast<size_t>(limit - end));
  const double scale = unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : unit.empty() ? 1 : 0;
  if (status != std::errc() || scale == 0 || !(value > 0) || value * scale > 1e18)
    fail(option, text, "a number of bytes such as 800000, 250M or 1.5G");
  return static_cast<uint64_t>(value * scale);
}

std::vector<std::string> parse_colon_list(std::string_view option, std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view item : split(text, ',')) {
    const size_t separator = std::min(item.find('='), item.rfind(':'));
    if (separator == 0 || separator == std::string_view::npos || separator + 1 == item.size())
      fail(option, text, "NAME:VALUE,NAME:VALUE");
    out.push_back(fmt::format("{}={}", item.substr(0, separator), item.substr(separator + 1)));
  }
  return out;
}

std::vector<std::string> parse_list(std::string_view option, std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view item : split(text, ',')) {
    if (item.empty()) fail(option, text, "ITEM,ITEM");
    out.emplace_back(item);
  }
  return out;
}

std::vector<double> parse_percentiles(std::string_view option, std::string_view text) {
  std::vector<double> out;
  for (std::string_view item : split(text, ',')) {
    double value = 0;
    const char* end = item.data() + item.size();
    const auto [stop, status] = std::from_chars(item.data(), end, value);
    if (status != std::errc() || stop != end || !(value > 0 && value <= 100))
      fail(option, text, "numbers above 0 and up to 100, as 90,95,99");
    out.push_back(value);
  }
  return out;
}

std::map<std::string, Shape> parse_shapes(std::string_view option, const std::vector<std::string>& texts) {
  std::map<std::string, Shape> out;
  for (const std::string& text : texts) {
    auto [name, value] = parse_assignment(option, text);
    if (!out.emplace(name, parse_shape(option, value)).second) fail(option, text, "each name once");
  }
  return out;
}

std::map<std::string, int64_t> parse_sizes(std::string_view option, const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> out;
  for (const std::string& text : texts) {
    auto [name, value] = parse_assignment(option, text);
    if (!out.emplace(name, parse_number(option, value)).second) fail(option, text, "each name once");
  }
  return out;
}

std::vector<Profile> parse_profiles(const std::vector<std::string>& shapes,
                                    const std::vector<std::string>& dims) {
  std::vector<Profile> out;
  for (const std::string& text : shapes) {
    const Range r = parse_range("--shape", text);
    ShapeRange range;
    range.min = parse_shape("--shape", r.values.front());
    range.opt = parse_shape("--shape", r.values[r.values.size() / 2]);
    range.max = parse_shape("--shape", r.values.back());
    if (!profile_named(out, r.profile).inputs.emplace(r.name, range).second)
      fail("--shape", text, "each input once in a profile");
  }
  for (const std::string& text : dims) {
    const Range r = parse_range("--dim", text);
    DimRange range;
    range.min = parse_number("--dim", r.values.front());
    range.opt = parse_number("--dim", r.values[r.values.size() / 2]);
    range.max = parse_number("--dim", r.values.back());
    if (!profile_named(out, r.profile).dims.emplace(r.name, range).second)
      fail("--dim", text, "each dimension once in a profile");
  }
  return out;
}

}  // namespace ingot::cli
