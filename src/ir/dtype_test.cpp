#include "ingot/dtype.h"

#include <gtest/gtest.h>

#include "ingot/error.h"

namespace ingot {
namespace {

struct Expected {
  DType dtype;
  std::string_view name;
  int bits;
  char kind;  // f, i, u or - as NumPy's dtype.kind has them
};

constexpr Expected kAll[] = {
    {DType::f64, "f64", 64, 'f'},
    {DType::f32, "f32", 32, 'f'},
    {DType::f16, "f16", 16, 'f'},
    {DType::bf16, "bf16", 16, 'f'},
    {DType::f8e4m3fn, "f8e4m3fn", 8, 'f'},
    {DType::f8e5m2, "f8e5m2", 8, 'f'},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", 8, 'f'},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", 8, 'f'},
    {DType::f8e8m0, "f8e8m0", 8, 'f'},
    {DType::f4e2m1, "f4e2m1", 4, 'f'},
    {DType::i64, "i64", 64, 'i'},
    {DType::i32, "i32", 32, 'i'},
    {DType::i16, "i16", 16, 'i'},
    {DType::i8, "i8", 8, 'i'},
    {DType::i4, "i4", 4, 'i'},
    {DType::i2, "i2", 2, 'i'},
    {DType::u64, "u64", 64, 'u'},
    {DType::u32, "u32", 32, 'u'},
    {DType::u16, "u16", 16, 'u'},
    {DType::u8, "u8", 8, 'u'},
    {DType::u4, "u4", 4, 'u'},
    {DType::u2, "u2", 2, 'u'},
    {DType::boolean, "bool", 8, '-'},
    {DType::string, "string", 0, '-'},
};

TEST(DType, NameWidthAndKindOfEveryType) {
  for (const Expected& e : kAll) {
    EXPECT_EQ(to_string(e.dtype), e.name);
    EXPECT_EQ(parse_dtype(e.name), e.dtype) << e.name;
    EXPECT_EQ(bit_width(e.dtype), e.bits) << e.name;
    EXPECT_EQ(is_floating(e.dtype), e.kind == 'f') << e.name;
    EXPECT_EQ(is_signed_integer(e.dtype), e.kind == 'i') << e.name;
    EXPECT_EQ(is_unsigned_integer(e.dtype), e.kind == 'u') << e.name;
    EXPECT_EQ(is_integer(e.dtype), e.kind == 'i' || e.kind == 'u') << e.name;
  }
}

TEST(DType, OtherSpellingsAreNotTypes) {
  for (std::string_view text : {"", "F32", "float32", "boolean", "f32 ", "i", "i1"}) {
    EXPECT_FALSE(parse_dtype(text)) << text;
  }
}

TEST(DType, NumberWithoutTypeIsAnError) {
  for (int number : {0, 11, 15, 22, 34, 255}) {
    EXPECT_THROW(to_string(static_cast<DType>(number)), Error) << number;
    EXPECT_THROW(bit_width(static_cast<DType>(number)), Error) << number;
  }
}

TEST(DType, SubByteElementsSharePaddedBytes) {
  EXPECT_TRUE(is_sub_byte(DType::i4));
  EXPECT_TRUE(is_sub_byte(DType::u2));
  EXPECT_FALSE(is_sub_byte(DType::boolean));
  EXPECT_FALSE(is_sub_byte(DType::string));
  EXPECT_EQ(byte_size(DType::i4, 0), 0u);
  EXPECT_EQ(byte_size(DType::i4, 1), 1u);
  EXPECT_EQ(byte_size(DType::f4e2m1, 3), 2u);
  EXPECT_EQ(byte_size(DType::u2, 4), 1u);
  EXPECT_EQ(byte_size(DType::u2, 5), 2u);
  EXPECT_EQ(byte_size(DType::i4, INT64_MAX), size_t{1} << 62);
}

TEST(DType, ByteSizeStopsBeforeSixtyThreeBits) {
  EXPECT_EQ(byte_size(DType::f32, 10), 40u);
  EXPECT_EQ(byte_size(DType::string, INT64_MAX), 0u);
  EXPECT_EQ(byte_size(DType::u8, INT64_MAX), static_cast<size_t>(INT64_MAX));
  EXPECT_EQ(byte_size(DType::f64, INT64_MAX / 8), static_cast<size_t>(INT64_MAX / 8 * 8));
  EXPECT_THROW(byte_size(DType::f64, INT64_MAX / 8 + 1), Error);
  EXPECT_THROW(byte_size(DType::f32, -1), Error);
}

}  // namespace
}  // namespace ingot
