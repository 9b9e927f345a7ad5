// Interval arithmetic: what is proven about an expression when only the ranges of its symbols are known.
#include <limits>

#include "ir/dim_internal.h"

namespace ingot {
namespace {

using Wide = __int128;

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
constexpr DimRange kAnything{kLowest, kHighest};

bool is_unbounded(int64_t end) { return end == kLowest || end == kHighest; }

int64_t clamp(Wide value) { return static_cast<int64_t>(std::clamp<Wide>(value, kLowest, kHighest)); }

int64_t multiply_ends(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_unbounded(a) || is_unbounded(b)) return (a < 0) == (b < 0) ? kHighest : kLowest;
  return clamp(Wide{a} * b);
}

DimRange floordiv_range(DimRange a, DimRange b) {
  if (b.low >= 1) {
    const int64_t low = std::min(floor_quotient(a.low, b.low), floor_quotient(a.low, b.high));
    const int64_t high = std::max(floor_quotient(a.high, b.low), floor_quotient(a.high, b.high));
    return {a.low == kLowest ? kLowest : low, a.high == kHighest ? kHighest : high};
  }
  // A quotient by a nonzero integer is never larger than the dividend, whatever the signs.
  if (a.low == kLowest || a.high == kHighest) return kAnything;
  const int64_t largest = std::max(std::abs(a.low), std::abs(a.high));
  return {-largest, largest};
}

DimRange mod_range(DimRange a, DimRange b) {
  DimRange range{0, 0};
  if (b.low < 0) range.low = b.low == kLowest ? kLowest : b.low + 1;
  if (b.high > 0) range.high = b.high == kHighest ? kHighest : b.high - 1;
  if (a.low >= 0 && b.low >= 0) range.high = std::min(range.high, a.high);
  return range;
}

}  // namespace

int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;  // INT64_MIN % -1 traps
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

DimRange add_ranges(DimRange a, DimRange b) {
  const bool open_below = a.low == kLowest || b.low == kLowest;
  const bool open_above = a.high == kHighest || b.high == kHighest;
  return {open_below ? kLowest : clamp(Wide{a.low} + b.low),
          open_above ? kHighest : clamp(Wide{a.high} + b.high)};
}

DimRange multiply_ranges(DimRange a, DimRange b) {
  const int64_t ends[] = {multiply_ends(a.low, b.low), multiply_ends(a.low, b.high),
                          multiply_ends(a.high, b.low), multiply_ends(a.high, b.high)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

DimRange range_of(const Dim& dim) { return {dim.low(), dim.high()}; }

DimRange range_of_call(DimKind kind, const std::vector<Dim>& operands) {
  DimRange range = range_of(operands[0]);
  if (kind == DimKind::floordiv) return floordiv_range(range, range_of(operands[1]));
  if (kind == DimKind::mod) return mod_range(range, range_of(operands[1]));
  for (const Dim& operand : operands) {
    const DimRange other = range_of(operand);
    const bool smallest = kind == DimKind::min;
    range.low = smallest ? std::min(range.low, other.low) : std::max(range.low, other.low);
    range.high = smallest ? std::min(range.high, other.high) : std::max(range.high, other.high);
  }
  return range;
}

}  // namespace ingot
