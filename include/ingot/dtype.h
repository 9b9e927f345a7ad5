#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

// Element types. The numbers are stored in engine files: never renumber, only append.
enum class DType : uint8_t {
  f64 = 1,
  f32 = 2,
  f16 = 3,         // IEEE half
  bf16 = 4,        // upper half of f32
  f8e4m3fn = 5,    // no infinity, NaN = 0x7f/0xff, largest 448
  f8e5m2 = 6,      // IEEE-like, largest 57344
  f8e4m3fnuz = 7,  // no infinity, no negative zero, NaN = 0x80, largest 240
  f8e5m2fnuz = 8,  // no infinity, no negative zero, NaN = 0x80, largest 57344
  f8e8m0 = 9,      // powers of two from 2^-127 to 2^127, NaN = 0xff; scales of blocks
  f4e2m1 = 10,     // 0 .5 1 1.5 2 3 4 6 and negatives
  i64 = 16,
  i32 = 17,
  i16 = 18,
  i8 = 19,
  i4 = 20,
  i2 = 21,
  u64 = 24,
  u32 = 25,
  u16 = 26,
  u8 = 27,
  u4 = 28,
  u2 = 29,
  boolean = 32,  // one byte, 0 or 1
  string = 33,   // UTF-8; held as std::string, never as raw bytes
};

// "f32", "i4", "bool" ...: the spelling of the text form, the command line and JSON.
INGOT_API std::string_view to_string(DType dtype);
INGOT_API std::optional<DType> parse_dtype(std::string_view text);

// Width of one element in bits: 2, 4, 8 ... 64. A string has no width: 0.
INGOT_API int bit_width(DType dtype);

INGOT_API bool is_floating(DType dtype);
INGOT_API bool is_signed_integer(DType dtype);
INGOT_API bool is_unsigned_integer(DType dtype);
inline bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }

// True for 2- and 4-bit types, which are packed low bits first: element 0 in the lowest bits of byte 0.
inline bool is_sub_byte(DType dtype) { return bit_width(dtype) > 0 && bit_width(dtype) < 8; }

// Bytes that `count` elements take, the last byte padded with zeros. 0 for strings.
// Throws Error(invalid_argument) when the product overflows 63 bits.
INGOT_API size_t byte_size(DType dtype, int64_t count);

}  // namespace ingot
