#include "ir/numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "ingot/error.h"

namespace ingot {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The lines of testdata/numeric.txt that start with `kind`, without it. tools/make_numeric_testdata.py
// explains them.
std::vector<std::istringstream> lines_of(char kind) {
  std::ifstream file(INGOT_IR_TESTDATA "/numeric.txt");
  std::vector<std::istringstream> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.front() == kind) lines.emplace_back(line.substr(2));
  }
  EXPECT_FALSE(lines.empty()) << INGOT_IR_TESTDATA;
  return lines;
}

DType read_type(std::istream& in) {
  std::string name;
  in >> name;
  return parse_dtype(name).value();
}

uint64_t read_hex(std::istream& in) {
  uint64_t value = 0;
  in >> std::hex >> value >> std::dec;
  EXPECT_TRUE(in);
  return value;
}

double read_double(std::istream& in) { return std::bit_cast<double>(read_hex(in)); }

uint64_t bits_with_one_nan(double value) { return std::bit_cast<uint64_t>(std::isnan(value) ? kNan : value); }

TEST(Numeric, EveryCodeOfAnEightBitTypeDecodesAsInMlDtypes) {
  for (auto& line : lines_of('v')) {
    const DType dtype = read_type(line);
    const auto code = static_cast<uint32_t>(read_hex(line));
    EXPECT_EQ(bits_with_one_nan(decode_float(dtype, code)), read_hex(line))
        << to_string(dtype) << " " << code;
  }
}

TEST(Numeric, AllCodesOfSixteenBitTypesDecodeAsInNumpy) {
  for (auto& line : lines_of('h')) {
    const DType dtype = read_type(line);
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t code = 0; code < 65536; ++code) {
      const uint64_t bits = bits_with_one_nan(decode_float(dtype, code));
      for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((bits >> shift) & 0xff)) * 0x100000001b3;
    }
    EXPECT_EQ(hash, read_hex(line)) << to_string(dtype);
  }
}

TEST(Numeric, EncodingInvertsDecoding) {
  for (DType dtype : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz,
                      DType::f8e5m2fnuz, DType::f8e8m0, DType::f4e2m1}) {
    for (uint32_t code = 0; code < 1u << bit_width(dtype); ++code) {
      const double value = decode_float(dtype, code);
      const uint32_t again = encode_float(dtype, value, {.saturate = false});
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_float(dtype, again))) << to_string(dtype) << " " << code;
        EXPECT_EQ(std::signbit(value), std::signbit(decode_float(dtype, again)))
            << to_string(dtype) << " " << code;
      } else {
        EXPECT_EQ(again, code) << to_string(dtype);
      }
    }
  }
}

TEST(Numeric, EncodingRoundsOnceToNearestEven) {
  for (auto& line : lines_of('e')) {
    const DType dtype = read_type(line);
    const bool saturate = read_hex(line) != 0;
    const double value = read_double(line);
    const auto expected = static_cast<uint32_t>(read_hex(line));
    EXPECT_EQ(encode_float(dtype, value, {.saturate = saturate}), expected)
        << to_string(dtype) << " " << value;

    const uint32_t sign = 1u << (bit_width(dtype) - 1);
    const bool no_negative =
        (dtype == DType::f8e4m3fnuz || dtype == DType::f8e5m2fnuz) && expected % sign == 0;
    EXPECT_EQ(encode_float(dtype, -value, {.saturate = saturate}), no_negative ? expected : expected | sign)
        << to_string(dtype) << " " << -value;
  }
}

TEST(Numeric, PowersOfTwoRoundAsAsked) {
  const std::map<std::string, E8m0Round> modes = {
      {"up", E8m0Round::up}, {"down", E8m0Round::down}, {"nearest", E8m0Round::nearest}};
  for (auto& line : lines_of('m')) {
    std::string how;
    line >> how;
    const bool saturate = read_hex(line) != 0;
    const double value = read_double(line);
    EXPECT_EQ(encode_float(DType::f8e8m0, value, {.saturate = saturate, .e8m0 = modes.at(how)}),
              read_hex(line))
        << how << " " << saturate << " " << std::hexfloat << value;
  }
}

TEST(Numeric, NanStaysNanWhereTheTypeHasOne) {
  for (bool saturate : {false, true}) {
    EXPECT_EQ(encode_float(DType::f8e4m3fn, kNan, {.saturate = saturate}), 0x7fu);
    EXPECT_EQ(encode_float(DType::f8e4m3fn, -kNan, {.saturate = saturate}), 0xffu);
    EXPECT_EQ(encode_float(DType::f8e5m2, kNan, {.saturate = saturate}), 0x7eu);
    EXPECT_EQ(encode_float(DType::f8e4m3fnuz, -kNan, {.saturate = saturate}), 0x80u);
    EXPECT_EQ(encode_float(DType::f8e5m2fnuz, kNan, {.saturate = saturate}), 0x80u);
    EXPECT_EQ(encode_float(DType::f8e8m0, kNan, {.saturate = saturate}), 0xffu);
    EXPECT_EQ(encode_float(DType::f16, kNan, {.saturate = saturate}), 0x7e00u);
    EXPECT_EQ(encode_float(DType::bf16, -kNan, {.saturate = saturate}), 0xffc0u);
    EXPECT_EQ(encode_float(DType::f4e2m1, kNan, {.saturate = saturate}), 0x8u);
  }
}

TEST(Numeric, IntegersRoundOnceIntoSmallFloats) {
  for (auto& line : lines_of('i')) {
    const DType dtype = read_type(line);
    int64_t value = 0;
    line >> value;
    const uint64_t expected = read_hex(line);
    uint16_t stored = 0;
    encode_from_i64(dtype, &value, 1, reinterpret_cast<std::byte*>(&stored), {.saturate = false});
    EXPECT_EQ(stored, expected) << to_string(dtype) << " " << value;
    if (value >= 0) {
      const auto positive = static_cast<uint64_t>(value);
      encode_from_u64(dtype, &positive, 1, reinterpret_cast<std::byte*>(&stored), {.saturate = false});
      EXPECT_EQ(stored, expected) << to_string(dtype) << " " << value;
    }
  }
}

TEST(Numeric, SubByteElementsSitLowBitsFirst) {
  const uint8_t packed[] = {0xe1, 0x07};
  std::byte elements[4];
  const auto* src = reinterpret_cast<const std::byte*>(packed);
  unpack(DType::u4, src, 3, elements);
  EXPECT_EQ(elements[0], std::byte{0x1});
  EXPECT_EQ(elements[1], std::byte{0xe});
  EXPECT_EQ(elements[2], std::byte{0x7});
  unpack(DType::i4, src, 2, elements);
  EXPECT_EQ(elements[1], std::byte{0xfe});  // -2
  unpack(DType::i2, src, 4, elements);
  EXPECT_EQ(elements[0], std::byte{1});
  EXPECT_EQ(elements[2], std::byte{0xfe});
  EXPECT_EQ(elements[3], std::byte{0xff});
  EXPECT_THROW(unpack(DType::i8, src, 1, elements), Error);
}

TEST(Numeric, PackingInvertsUnpackingAndClearsUnusedBits) {
  const uint8_t packed[] = {0x5c, 0xf9, 0xff};
  for (DType dtype : {DType::i4, DType::u4, DType::f4e2m1, DType::i2, DType::u2}) {
    const int64_t count = 8 / bit_width(dtype) * 2 + 1;
    std::byte elements[9];
    std::byte again[3] = {std::byte{0xaa}, std::byte{0xaa}, std::byte{0xaa}};
    unpack(dtype, reinterpret_cast<const std::byte*>(packed), count, elements);
    pack(dtype, elements, count, again);
    EXPECT_EQ(again[0], std::byte{0x5c});
    EXPECT_EQ(again[1], std::byte{0xf9});
    EXPECT_EQ(again[2], std::byte(bit_width(dtype) == 4 ? 0x0f : 0x03)) << to_string(dtype);
  }
}

// Storage for a few elements of any type, deliberately at an odd address.
struct Stored {
  std::byte bytes[1 + 8 * 8] = {};
  std::byte* at() { return bytes + 1; }
};

TEST(Numeric, BulkRoundTripOfSmallIntegersInEveryType) {
  const double values[] = {0, 1, 1, 0, 1};
  for (int number = 1; number < 33; ++number) {
    Stored stored;
    double back[5];
    int64_t back_i64[5];
    uint64_t back_u64[5];
    try {
      bit_width(static_cast<DType>(number));
    } catch (const Error&) {
      continue;
    }
    const auto dtype = static_cast<DType>(number);
    if (dtype == DType::f8e8m0) continue;  // has no zero
    encode_from_f64(dtype, values, 5, stored.at());
    decode_to_f64(dtype, stored.at(), 5, back);
    decode_to_i64(dtype, stored.at(), 5, back_i64);
    decode_to_u64(dtype, stored.at(), 5, back_u64);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(back[i], values[i]) << to_string(dtype);
      EXPECT_EQ(back_i64[i], static_cast<int64_t>(values[i])) << to_string(dtype);
      EXPECT_EQ(back_u64[i], static_cast<uint64_t>(values[i])) << to_string(dtype);
    }
  }
}

// ONNX's own test data has float 8 to int4 as -8, -9 as 7; 3 to int2 as -1, -3 as 1.
TEST(Numeric, IntegersKeepTheirLowBits) {
  const double values[] = {8, -9, 15, 3, -3, 255.9, -1.5};
  int64_t back[7];
  Stored stored;
  encode_from_f64(DType::i4, values, 5, stored.at());
  decode_to_i64(DType::i4, stored.at(), 5, back);
  EXPECT_EQ(std::vector<int64_t>(back, back + 5), (std::vector<int64_t>{-8, 7, -1, 3, -3}));
  encode_from_f64(DType::i2, values, 5, stored.at());
  decode_to_i64(DType::i2, stored.at(), 5, back);
  EXPECT_EQ(std::vector<int64_t>(back, back + 5), (std::vector<int64_t>{0, -1, -1, -1, 1}));
  encode_from_f64(DType::u8, values, 7, stored.at());
  decode_to_i64(DType::u8, stored.at(), 7, back);
  EXPECT_EQ(std::vector<int64_t>(back, back + 7), (std::vector<int64_t>{8, 247, 15, 3, 253, 255, 255}));
  const int64_t wide[] = {200, -129, INT64_MIN};
  encode_from_i64(DType::i8, wide, 3, stored.at());
  decode_to_i64(DType::i8, stored.at(), 3, back);
  EXPECT_EQ(std::vector<int64_t>(back, back + 3), (std::vector<int64_t>{-56, 127, 0}));
}

TEST(Numeric, FloatsBeyondIntegersGiveTheNearestEnd) {
  const double values[] = {kNan, kInf, -kInf, 9223372036854775808.0, -2.9, 1e19};
  int64_t as_i64[6];
  uint64_t as_u64[6];
  decode_to_i64(DType::f64, reinterpret_cast<const std::byte*>(values), 6, as_i64);
  decode_to_u64(DType::f64, reinterpret_cast<const std::byte*>(values), 6, as_u64);
  EXPECT_EQ(std::vector<int64_t>(as_i64, as_i64 + 6),
            (std::vector<int64_t>{0, INT64_MAX, INT64_MIN, INT64_MAX, -2, INT64_MAX}));
  EXPECT_EQ(std::vector<uint64_t>(as_u64, as_u64 + 6),
            (std::vector<uint64_t>{0, UINT64_MAX, uint64_t{1} << 63, uint64_t{1} << 63,
                                   static_cast<uint64_t>(-2), 10000000000000000000u}));
}

TEST(Numeric, BooleansAreZeroOrOne) {
  const double values[] = {0.0, -0.0, 0.1, kNan, -5};
  Stored stored;
  encode_from_f64(DType::boolean, values, 5, stored.at());
  const std::vector<std::byte> expected = {std::byte{0}, std::byte{0}, std::byte{1}, std::byte{1},
                                           std::byte{1}};
  EXPECT_EQ(std::vector<std::byte>(stored.at(), stored.at() + 5), expected);
  stored.at()[0] = std::byte{7};
  int64_t back = 0;
  decode_to_i64(DType::boolean, stored.at(), 1, &back);
  EXPECT_EQ(back, 1);
}

TEST(Numeric, SixtyFourBitIntegersSurvive) {
  const int64_t values[] = {INT64_MIN, INT64_MAX, -1, (int64_t{1} << 53) + 1};
  int64_t back[4];
  Stored stored;
  encode_from_i64(DType::i64, values, 4, stored.at());
  decode_to_i64(DType::i64, stored.at(), 4, back);
  EXPECT_TRUE(std::equal(values, values + 4, back));
  // 2^24 + 1 and 2^60 + 2^36 + 1 lie on and just above the middle of two float32 values.
  const int64_t close[] = {(1 << 24) + 1, (int64_t{1} << 60) + (int64_t{1} << 36) + 1};
  double rounded[2];
  encode_from_i64(DType::f32, close, 2, stored.at());
  decode_to_f64(DType::f32, stored.at(), 2, rounded);
  EXPECT_EQ(rounded[0], std::ldexp(1, 24));
  EXPECT_EQ(rounded[1], std::ldexp(1, 60) + std::ldexp(1, 37));
}

TEST(Numeric, StringsHaveNoNumericForm) {
  std::byte bytes[8] = {};
  double value = 0;
  EXPECT_THROW(decode_to_f64(DType::string, bytes, 1, &value), Error);
  EXPECT_THROW(encode_from_f64(DType::string, &value, 1, bytes), Error);
  EXPECT_THROW(decode_float(DType::f32, 0), Error);
}

}  // namespace
}  // namespace ingot
