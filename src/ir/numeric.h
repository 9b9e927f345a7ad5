#pragma once

#include <cstddef>
#include <cstdint>

#include "ingot/dtype.h"

// Conversions between element types, as ONNX Cast 25 defines them. Widening is exact; narrowing rounds once,
// from the exact value of the source, to nearest with ties to even unless stated. Nothing here allocates.
namespace ingot {

// Direction for f8e8m0, which holds powers of two only. `nearest` takes the arithmetic middle up.
enum class E8m0Round : uint8_t { up, down, nearest };

struct EncodeOptions {
  // 8-bit floats: true clamps infinities and finite values out of range to the largest finite value; false
  // stores infinity, or NaN where the type has none. f16 and bf16 always overflow to infinity; f4e2m1 always
  // clamps.
  bool saturate = true;
  E8m0Round e8m0 = E8m0Round::up;
};

// One element of f16, bf16 or a smaller float, in the low bits. Throws Error(internal) for other types.
// f8e8m0 takes zero as below its range and negative values as NaN; f4e2m1 stores NaN as negative zero.
double decode_float(DType dtype, uint32_t bits);
uint32_t encode_float(DType dtype, double value, EncodeOptions options = {});

// 2- and 4-bit types: from packed bytes, low bits first, to one byte per element and back. Signed integers
// are sign-extended, the others zero-extended; packing takes the low bits. `packed` has byte_size(dtype,
// count) bytes.
void unpack(DType dtype, const std::byte* packed, int64_t count, std::byte* elements);
void pack(DType dtype, const std::byte* elements, int64_t count, std::byte* packed);

// `count` elements as stored in a tensor (sub-byte types packed), at any alignment. A boolean is 0 or 1,
// nonzero bytes are true. A float becomes an integer by dropping the fraction; NaN gives 0 and values beyond
// the 64-bit range its nearest end. Integers keep their low 64 bits. Throws Error(internal) for strings.
void decode_to_f64(DType dtype, const std::byte* src, int64_t count, double* dst);
void decode_to_i64(DType dtype, const std::byte* src, int64_t count, int64_t* dst);
void decode_to_u64(DType dtype, const std::byte* src, int64_t count, uint64_t* dst);

// Back. Integers keep the low bits of the value, a float first becoming one of 64 bits as above; a boolean is
// true for anything but zero, NaN included. The unused bits of the last byte of a packed type are zero.
void encode_from_f64(DType dtype, const double* src, int64_t count, std::byte* dst,
                     EncodeOptions options = {});
void encode_from_i64(DType dtype, const int64_t* src, int64_t count, std::byte* dst,
                     EncodeOptions options = {});
void encode_from_u64(DType dtype, const uint64_t* src, int64_t count, std::byte* dst,
                     EncodeOptions options = {});

}  // namespace ingot
