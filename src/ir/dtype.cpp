#include "ingot/dtype.h"

#include <array>
#include <limits>

#include "ingot/error.h"

namespace ingot {
namespace {

enum class Kind : uint8_t { floating, signed_integer, unsigned_integer, other };

struct Row {
  DType dtype;
  std::string_view name;
  uint8_t bits;
  Kind kind;
};

constexpr Row kRows[] = {
    {DType::f64, "f64", 64, Kind::floating},
    {DType::f32, "f32", 32, Kind::floating},
    {DType::f16, "f16", 16, Kind::floating},
    {DType::bf16, "bf16", 16, Kind::floating},
    {DType::f8e4m3fn, "f8e4m3fn", 8, Kind::floating},
    {DType::f8e5m2, "f8e5m2", 8, Kind::floating},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", 8, Kind::floating},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", 8, Kind::floating},
    {DType::f8e8m0, "f8e8m0", 8, Kind::floating},
    {DType::f4e2m1, "f4e2m1", 4, Kind::floating},
    {DType::i64, "i64", 64, Kind::signed_integer},
    {DType::i32, "i32", 32, Kind::signed_integer},
    {DType::i16, "i16", 16, Kind::signed_integer},
    {DType::i8, "i8", 8, Kind::signed_integer},
    {DType::i4, "i4", 4, Kind::signed_integer},
    {DType::i2, "i2", 2, Kind::signed_integer},
    {DType::u64, "u64", 64, Kind::unsigned_integer},
    {DType::u32, "u32", 32, Kind::unsigned_integer},
    {DType::u16, "u16", 16, Kind::unsigned_integer},
    {DType::u8, "u8", 8, Kind::unsigned_integer},
    {DType::u4, "u4", 4, Kind::unsigned_integer},
    {DType::u2, "u2", 2, Kind::unsigned_integer},
    {DType::boolean, "bool", 8, Kind::other},
    {DType::string, "string", 0, Kind::other},
};

// Indexed by the number of the type; numbers without a type have an empty name.
constexpr auto kTable = [] {
  std::array<Row, 34> table{};
  for (Row& row : table) row = {DType{}, "", 0, Kind::other};
  for (const Row& row : kRows) table[static_cast<size_t>(row.dtype)] = row;
  return table;
}();

const Row& row_of(DType dtype) {
  const auto number = static_cast<size_t>(dtype);
  if (number >= kTable.size() || kTable[number].name.empty()) {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "element type",
                 .expected = "the number of a known type",
                 .observed = std::to_string(number)});
  }
  return kTable[number];
}

}  // namespace

std::string_view to_string(DType dtype) { return row_of(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const Row& row : kRows) {
    if (row.name == text) return row.dtype;
  }
  return std::nullopt;
}

int bit_width(DType dtype) { return row_of(dtype).bits; }
bool is_floating(DType dtype) { return row_of(dtype).kind == Kind::floating; }
bool is_signed_integer(DType dtype) { return row_of(dtype).kind == Kind::signed_integer; }
bool is_unsigned_integer(DType dtype) { return row_of(dtype).kind == Kind::unsigned_integer; }

size_t byte_size(DType dtype, int64_t count) {
  if (count < 0) {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "element count",
                 .expected = "0 or more",
                 .observed = std::to_string(count)});
  }
  const int bits = bit_width(dtype);
  if (bits == 0) return 0;
  if (bits < 8) {
    const int per_byte = 8 / bits;
    return static_cast<size_t>(count / per_byte + (count % per_byte != 0));
  }
  const int64_t width = bits / 8;
  if (count > std::numeric_limits<int64_t>::max() / width) {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "tensor of",
                 .name = std::string(to_string(dtype)),
                 .expected = "less than 2^63 bytes",
                 .observed = std::to_string(count) + " elements",
                 .remedy = "Use smaller sizes."});
  }
  return static_cast<size_t>(count * width);
}

}  // namespace ingot
