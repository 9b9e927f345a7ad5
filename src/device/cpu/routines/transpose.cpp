#include "device/cpu/routines/transpose.h"

#include <emmintrin.h>

#include "device/cpu/routines/simd.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kTile = 16;  // elements: whole cache lines of 4-byte elements on both sides

template <class T>
INGOT_INLINE void transpose_rest(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                                 int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[i * to_stride + j] = from[i + j * from_stride];
}

// A full tile by way of the registers; the general form leaves it to the compiler.
template <class T>
INGOT_INLINE void transpose_tile(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  T rows[kTile][kTile];
  for (int64_t j = 0; j < kTile; ++j)
    for (int64_t i = 0; i < kTile; ++i) rows[j][i] = from[i + j * from_stride];
  for (int64_t i = 0; i < kTile; ++i)
    for (int64_t j = 0; j < kTile; ++j) to[i * to_stride + j] = rows[j][i];
}

INGOT_INLINE void transpose_4x4(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride) {
  auto load = [&](int64_t j) { return _mm_loadu_ps(reinterpret_cast<const float*>(from + j * from_stride)); };
  __m128 a = load(0), b = load(1), c = load(2), d = load(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  auto store = [&](int64_t i, __m128 v) { _mm_storeu_ps(reinterpret_cast<float*>(to + i * to_stride), v); };
  store(0, a), store(1, b), store(2, c), store(3, d);
}

template <>
INGOT_INLINE void transpose_tile(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride) {
  for (int64_t i = 0; i < kTile; i += 4)
    for (int64_t j = 0; j < kTile; j += 4)
      transpose_4x4(from + i + j * from_stride, from_stride, to + i * to_stride + j, to_stride);
}

// 8 x 8 by three rounds of interleaving.
INGOT_INLINE void transpose_8x8(const uint16_t* from, int64_t from_stride, uint16_t* to, int64_t to_stride) {
  __m128i a[8], b[8];
  for (int j = 0; j < 8; ++j)
    a[j] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + j * from_stride));
  for (int j = 0; j < 4; ++j) {
    b[2 * j] = _mm_unpacklo_epi16(a[j], a[j + 4]);
    b[2 * j + 1] = _mm_unpackhi_epi16(a[j], a[j + 4]);
  }
  for (int j = 0; j < 4; ++j) {
    a[2 * j] = _mm_unpacklo_epi16(b[j], b[j + 4]);
    a[2 * j + 1] = _mm_unpackhi_epi16(b[j], b[j + 4]);
  }
  for (int j = 0; j < 4; ++j) {
    b[2 * j] = _mm_unpacklo_epi16(a[j], a[j + 4]);
    b[2 * j + 1] = _mm_unpackhi_epi16(a[j], a[j + 4]);
  }
  for (int i = 0; i < 8; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_stride), b[i]);
}

template <>
INGOT_INLINE void transpose_tile(const uint16_t* from, int64_t from_stride, uint16_t* to, int64_t to_stride) {
  for (int64_t i = 0; i < kTile; i += 8)
    for (int64_t j = 0; j < kTile; j += 8)
      transpose_8x8(from + i + j * from_stride, from_stride, to + i * to_stride + j, to_stride);
}

// 16 x 16 bytes by four rounds of interleaving.
template <>
INGOT_INLINE void transpose_tile(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride) {
  __m128i a[16], b[16];
  for (int j = 0; j < 16; ++j)
    a[j] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + j * from_stride));
  auto interleave = [](const __m128i* x, __m128i* y) {
    for (int j = 0; j < 8; ++j) {
      y[2 * j] = _mm_unpacklo_epi8(x[j], x[j + 8]);
      y[2 * j + 1] = _mm_unpackhi_epi8(x[j], x[j + 8]);
    }
  };
  interleave(a, b), interleave(b, a), interleave(a, b), interleave(b, a);
  for (int i = 0; i < 16; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_stride), a[i]);
}

}  // namespace

template <class T>
void transpose_block(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                     int64_t columns) {
  const int64_t full_rows = rows - rows % kTile, full_columns = columns - columns % kTile;
  for (int64_t i = 0; i < full_rows; i += kTile) {
    for (int64_t j = 0; j < full_columns; j += kTile)
      transpose_tile(from + i + j * from_stride, from_stride, to + i * to_stride + j, to_stride);
    transpose_rest(from + i + full_columns * from_stride, from_stride, to + i * to_stride + full_columns,
                   to_stride, kTile, columns - full_columns);
  }
  transpose_rest(from + full_rows, from_stride, to + full_rows * to_stride, to_stride, rows - full_rows,
                 columns);
}

template void transpose_block(const uint8_t*, int64_t, uint8_t*, int64_t, int64_t, int64_t);
template void transpose_block(const uint16_t*, int64_t, uint16_t*, int64_t, int64_t, int64_t);
template void transpose_block(const uint32_t*, int64_t, uint32_t*, int64_t, int64_t, int64_t);
template void transpose_block(const uint64_t*, int64_t, uint64_t*, int64_t, int64_t, int64_t);

}  // namespace ingot::cpu
