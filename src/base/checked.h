#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ingot {

// Integer arithmetic that cannot wrap. The try_ forms return nothing where the result does not fit, for
// readers that have a better error to give; the checked_ forms throw Error(invalid_argument) that names
// `object` and both operands.
template <std::integral T>
constexpr std::optional<T> try_add(T a, T b) {
  T r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

template <std::integral T>
constexpr std::optional<T> try_sub(T a, T b) {
  T r;
  if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
  return r;
}

template <std::integral T>
constexpr std::optional<T> try_mul(T a, T b) {
  T r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

template <std::integral To, std::integral From>
constexpr std::optional<To> try_cast(From value) {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

// The smallest multiple of `alignment` that is at least `value`; both must not be negative, alignment not
// zero.
template <std::integral T>
constexpr std::optional<T> try_align_up(T value, T alignment) {
  T rest = value % alignment;
  return rest == 0 ? std::optional<T>(value) : try_add<T>(value, alignment - rest);
}

// The number of elements of a shape: 1 for no dimensions, 0 where any dimension is 0; nothing where a
// dimension is negative or the product does not fit.
std::optional<int64_t> try_product(std::span<const int64_t> dimensions);

// True if [offset, offset + length) lies inside a block of `size` bytes.
constexpr bool range_fits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

[[noreturn]] void throw_overflow(std::string_view object, const std::string& expression);

template <std::integral T>
constexpr T checked_add(T a, T b, std::string_view object = "size") {
  if (auto r = try_add(a, b)) return *r;
  throw_overflow(object, std::to_string(a) + " + " + std::to_string(b));
}

template <std::integral T>
constexpr T checked_sub(T a, T b, std::string_view object = "size") {
  if (auto r = try_sub(a, b)) return *r;
  throw_overflow(object, std::to_string(a) + " - " + std::to_string(b));
}

template <std::integral T>
constexpr T checked_mul(T a, T b, std::string_view object = "size") {
  if (auto r = try_mul(a, b)) return *r;
  throw_overflow(object, std::to_string(a) + " * " + std::to_string(b));
}

template <std::integral To, std::integral From>
constexpr To checked_cast(From value, std::string_view object = "value") {
  if (auto r = try_cast<To>(value)) return *r;
  throw_overflow(object, std::to_string(value));
}

int64_t checked_product(std::span<const int64_t> dimensions, std::string_view object = "shape");

}  // namespace ingot
