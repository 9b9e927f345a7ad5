#include "ir/numeric.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ingot/error.h"
#include "ir/small_float.h"

namespace ingot {
namespace {

using namespace small_float;

[[noreturn]] void no_conversion(DType dtype) {
  throw Error({.code = ErrorCode::internal,
               .object = "numeric conversion",
               .expected = "an element type that this conversion covers",
               .observed = std::string(to_string(dtype))});
}

template <class T>
T load(const std::byte* src, int64_t i) {
  T value;
  std::memcpy(&value, src + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* dst, int64_t i, T value) {
  std::memcpy(dst + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

template <int kBits>
uint8_t sub_byte(const std::byte* src, int64_t i) {
  constexpr int kPerByte = 8 / kBits;
  const auto byte = static_cast<uint8_t>(src[i / kPerByte]);
  return static_cast<uint8_t>((byte >> (i % kPerByte * kBits)) & ((1 << kBits) - 1));
}

template <int kBits>
int8_t sign_extended(uint8_t value) {
  constexpr int kSign = 1 << (kBits - 1);
  return static_cast<int8_t>((value ^ kSign) - kSign);
}

// Writes the low bits of value(i) for every element, whole bytes at a time.
template <int kBits, class Value>
void pack_elements(int64_t count, std::byte* packed, Value value) {
  constexpr int kPerByte = 8 / kBits;
  for (int64_t first = 0; first < count; first += kPerByte) {
    unsigned byte = 0;
    const auto here = static_cast<int>(std::min<int64_t>(kPerByte, count - first));
    for (int k = 0; k < here; ++k) {
      byte |= (static_cast<unsigned>(value(first + k)) & ((1u << kBits) - 1)) << (k * kBits);
    }
    packed[first / kPerByte] = static_cast<std::byte>(byte);
  }
}

// The integer nearest towards zero, as the low 64 bits of its two's complement.
template <class Int>
Int truncated(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value < -kTwo63) return static_cast<Int>(std::numeric_limits<int64_t>::min());
  if (value < kTwo63) return static_cast<Int>(static_cast<int64_t>(value));
  if (std::is_signed_v<Int> || value >= 2 * kTwo63) return std::numeric_limits<Int>::max();
  return static_cast<Int>(value);
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using Wide = std::conditional_t<std::is_signed_v<To>, int64_t, uint64_t>;
    return static_cast<To>(truncated<Wide>(static_cast<double>(value)));
  } else {
    return static_cast<To>(value);
  }
}

// A double that every format of at most 51 bits rounds as it would round the integer: bits beyond those of a
// double leave a mark in the lowest bit that is kept.
double rounded_to_odd(uint64_t magnitude) {
  if (magnitude >> 53 != 0) {
    constexpr uint64_t kLost = 0x7ff;
    magnitude = (magnitude & ~kLost) | ((magnitude & kLost) != 0 ? kLost + 1 : 0);
  }
  return static_cast<double>(magnitude);
}

double for_rounding(double value) { return value; }
double for_rounding(uint64_t value) { return rounded_to_odd(value); }
double for_rounding(int64_t value) {
  return value < 0 ? -rounded_to_odd(0 - static_cast<uint64_t>(value))
                   : rounded_to_odd(static_cast<uint64_t>(value));
}

template <class Stored, class Out>
void decode_plain(const std::byte* src, int64_t count, Out* dst) {
  for (int64_t i = 0; i < count; ++i) dst[i] = convert<Out>(load<Stored>(src, i));
}

template <class Stored, class Format, class Out>
void decode_small(const Format& format, const std::byte* src, int64_t count, Out* dst) {
  for (int64_t i = 0; i < count; ++i) dst[i] = convert<Out>(format.decode(load<Stored>(src, i)));
}

template <int kBits, bool kSigned, class Out>
void decode_packed(const std::byte* src, int64_t count, Out* dst) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t value = sub_byte<kBits>(src, i);
    dst[i] = kSigned ? convert<Out>(sign_extended<kBits>(value)) : convert<Out>(value);
  }
}

template <class Out>
void decode(DType dtype, const std::byte* src, int64_t count, Out* dst) {
  switch (dtype) {
    case DType::f64: return decode_plain<double>(src, count, dst);
    case DType::f32: return decode_plain<float>(src, count, dst);
    case DType::f16: return decode_small<uint16_t>(kF16, src, count, dst);
    case DType::bf16: return decode_small<uint16_t>(kBf16, src, count, dst);
    case DType::f8e4m3fn: return decode_small<uint8_t>(kF8e4m3fn, src, count, dst);
    case DType::f8e5m2: return decode_small<uint8_t>(kF8e5m2, src, count, dst);
    case DType::f8e4m3fnuz: return decode_small<uint8_t>(kF8e4m3fnuz, src, count, dst);
    case DType::f8e5m2fnuz: return decode_small<uint8_t>(kF8e5m2fnuz, src, count, dst);
    case DType::f8e8m0: return decode_small<uint8_t>(E8m0{}, src, count, dst);
    case DType::f4e2m1:
      for (int64_t i = 0; i < count; ++i) dst[i] = convert<Out>(kF4e2m1.decode(sub_byte<4>(src, i)));
      return;
    case DType::i64: return decode_plain<int64_t>(src, count, dst);
    case DType::i32: return decode_plain<int32_t>(src, count, dst);
    case DType::i16: return decode_plain<int16_t>(src, count, dst);
    case DType::i8: return decode_plain<int8_t>(src, count, dst);
    case DType::i4: return decode_packed<4, true>(src, count, dst);
    case DType::i2: return decode_packed<2, true>(src, count, dst);
    case DType::u64: return decode_plain<uint64_t>(src, count, dst);
    case DType::u32: return decode_plain<uint32_t>(src, count, dst);
    case DType::u16: return decode_plain<uint16_t>(src, count, dst);
    case DType::u8: return decode_plain<uint8_t>(src, count, dst);
    case DType::u4: return decode_packed<4, false>(src, count, dst);
    case DType::u2: return decode_packed<2, false>(src, count, dst);
    case DType::boolean:
      for (int64_t i = 0; i < count; ++i) dst[i] = src[i] != std::byte{0} ? Out{1} : Out{0};
      return;
    case DType::string: break;
  }
  no_conversion(dtype);
}

template <class Stored, class In>
void encode_plain(const In* src, int64_t count, std::byte* dst) {
  for (int64_t i = 0; i < count; ++i) store(dst, i, convert<Stored>(src[i]));
}

template <class Stored, class In>
void encode_small(const Format& format, const In* src, int64_t count, std::byte* dst, EncodeOptions options) {
  for (int64_t i = 0; i < count; ++i) {
    store(dst, i, static_cast<Stored>(format.encode(for_rounding(src[i]), options.saturate)));
  }
}

template <int kBits, class In>
void encode_packed(const In* src, int64_t count, std::byte* dst) {
  pack_elements<kBits>(count, dst, [src](int64_t i) { return convert<int8_t>(src[i]); });
}

template <class In>
void encode(DType dtype, const In* src, int64_t count, std::byte* dst, EncodeOptions options) {
  switch (dtype) {
    case DType::f64: return encode_plain<double>(src, count, dst);
    case DType::f32: return encode_plain<float>(src, count, dst);
    case DType::f16: return encode_small<uint16_t>(kF16, src, count, dst, options);
    case DType::bf16: return encode_small<uint16_t>(kBf16, src, count, dst, options);
    case DType::f8e4m3fn: return encode_small<uint8_t>(kF8e4m3fn, src, count, dst, options);
    case DType::f8e5m2: return encode_small<uint8_t>(kF8e5m2, src, count, dst, options);
    case DType::f8e4m3fnuz: return encode_small<uint8_t>(kF8e4m3fnuz, src, count, dst, options);
    case DType::f8e5m2fnuz: return encode_small<uint8_t>(kF8e5m2fnuz, src, count, dst, options);
    case DType::f8e8m0:
      for (int64_t i = 0; i < count; ++i) {
        dst[i] = static_cast<std::byte>(E8m0::encode(for_rounding(src[i]), options));
      }
      return;
    case DType::f4e2m1:
      return pack_elements<4>(count, dst,
                              [&](int64_t i) { return kF4e2m1.encode(for_rounding(src[i]), true); });
    case DType::i64: return encode_plain<int64_t>(src, count, dst);
    case DType::i32: return encode_plain<int32_t>(src, count, dst);
    case DType::i16: return encode_plain<int16_t>(src, count, dst);
    case DType::i8: return encode_plain<int8_t>(src, count, dst);
    case DType::u64: return encode_plain<uint64_t>(src, count, dst);
    case DType::u32: return encode_plain<uint32_t>(src, count, dst);
    case DType::u16: return encode_plain<uint16_t>(src, count, dst);
    case DType::u8: return encode_plain<uint8_t>(src, count, dst);
    case DType::i4:
    case DType::u4: return encode_packed<4>(src, count, dst);
    case DType::i2:
    case DType::u2: return encode_packed<2>(src, count, dst);
    case DType::boolean: return encode_plain<bool>(src, count, dst);
    case DType::string: break;
  }
  no_conversion(dtype);
}

template <int kBits>
void unpack_elements(bool is_signed, const std::byte* packed, int64_t count, std::byte* elements) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t value = sub_byte<kBits>(packed, i);
    elements[i] = static_cast<std::byte>(is_signed ? sign_extended<kBits>(value) : value);
  }
}

}  // namespace

double decode_float(DType dtype, uint32_t bits) {
  switch (dtype) {
    case DType::f16: return kF16.decode(bits & 0xffff);
    case DType::bf16: return kBf16.decode(bits & 0xffff);
    case DType::f8e4m3fn: return kF8e4m3fn.decode(bits & 0xff);
    case DType::f8e5m2: return kF8e5m2.decode(bits & 0xff);
    case DType::f8e4m3fnuz: return kF8e4m3fnuz.decode(bits & 0xff);
    case DType::f8e5m2fnuz: return kF8e5m2fnuz.decode(bits & 0xff);
    case DType::f8e8m0: return E8m0::decode(bits & 0xff);
    case DType::f4e2m1: return kF4e2m1.decode(bits & 0xf);
    default: no_conversion(dtype);
  }
}

uint32_t encode_float(DType dtype, double value, EncodeOptions options) {
  switch (dtype) {
    case DType::f16: return kF16.encode(value, options.saturate);
    case DType::bf16: return kBf16.encode(value, options.saturate);
    case DType::f8e4m3fn: return kF8e4m3fn.encode(value, options.saturate);
    case DType::f8e5m2: return kF8e5m2.encode(value, options.saturate);
    case DType::f8e4m3fnuz: return kF8e4m3fnuz.encode(value, options.saturate);
    case DType::f8e5m2fnuz: return kF8e5m2fnuz.encode(value, options.saturate);
    case DType::f8e8m0: return E8m0::encode(value, options);
    case DType::f4e2m1: return kF4e2m1.encode(value, options.saturate);
    default: no_conversion(dtype);
  }
}

void unpack(DType dtype, const std::byte* packed, int64_t count, std::byte* elements) {
  switch (bit_width(dtype)) {
    case 2: return unpack_elements<2>(is_signed_integer(dtype), packed, count, elements);
    case 4: return unpack_elements<4>(is_signed_integer(dtype), packed, count, elements);
    default: no_conversion(dtype);
  }
}

void pack(DType dtype, const std::byte* elements, int64_t count, std::byte* packed) {
  const auto element = [elements](int64_t i) { return static_cast<uint8_t>(elements[i]); };
  switch (bit_width(dtype)) {
    case 2: return pack_elements<2>(count, packed, element);
    case 4: return pack_elements<4>(count, packed, element);
    default: no_conversion(dtype);
  }
}

void decode_to_f64(DType dtype, const std::byte* src, int64_t count, double* dst) {
  decode(dtype, src, count, dst);
}
void decode_to_i64(DType dtype, const std::byte* src, int64_t count, int64_t* dst) {
  decode(dtype, src, count, dst);
}
void decode_to_u64(DType dtype, const std::byte* src, int64_t count, uint64_t* dst) {
  decode(dtype, src, count, dst);
}

void encode_from_f64(DType dtype, const double* src, int64_t count, std::byte* dst, EncodeOptions options) {
  encode(dtype, src, count, dst, options);
}
void encode_from_i64(DType dtype, const int64_t* src, int64_t count, std::byte* dst, EncodeOptions options) {
  encode(dtype, src, count, dst, options);
}
void encode_from_u64(DType dtype, const uint64_t* src, int64_t count, std::byte* dst, EncodeOptions options) {
  encode(dtype, src, count, dst, options);
}

}  // namespace ingot
