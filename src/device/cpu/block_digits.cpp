#include "device/cpu/block_digits.h"

#include <immintrin.h>

#include <cmath>
#include <cstring>

#include "kernel/target.h"

// Some intrinsics of GCC 12 pass on values that are undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace ingot::cpu {
namespace {

#define INGOT_VNNI \
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c,prefer-vector-width=512")]]

constexpr int64_t kPanel = BlockLayout::kPanel;
constexpr int kVectors = kPanel / 16;
constexpr int kDigits = 3;
constexpr int64_t kFetchAhead = 16 << 10;    // bytes; nearer ones come too late from memory
constexpr float kLargest = 127 * 16384 - 1;  // that three digits of 128 values hold

// What make_block_digits writes: scales and sums of the blocks, then the digits, each kind for itself.
struct Row {
  float* scales;
  float* sums;  // of the numbers as digits have them
  int8_t* digits[kDigits];

  Row(const BlockLayout& layout, float* start) : scales(start), sums(start + layout.blocks()) {
    auto* bytes = reinterpret_cast<int8_t*>(sums + layout.blocks());
    for (int i = 0; i < kDigits; ++i) digits[i] = bytes + i * layout.depth;
  }
};

// In the order in which masks and shifts take the values of two words of weights apart.
template <int Bits>
INGOT_VNNI inline __m128i in_word_order(__m128i bytes) {
  if (Bits == 8) return bytes;
  return _mm_shuffle_epi8(bytes, _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
}

// Splits off the lowest digit, of -64 ... 63.
INGOT_VNNI inline __m512i next_digit(__m512i& rest) {
  const __m512i half = _mm512_set1_epi32(64);
  const __m512i digit =
      _mm512_sub_epi32(_mm512_and_si512(_mm512_add_epi32(rest, half), _mm512_set1_epi32(127)), half);
  rest = _mm512_srai_epi32(_mm512_sub_epi32(rest, digit), 7);
  return digit;
}

template <int Bits>
INGOT_VNNI bool make_digits(const BlockLayout& layout, const float* x, const Row& row) {
  constexpr float kSmallest = 0x1p-100f;
  for (int64_t b = 0; b < layout.blocks(); ++b) {
    const float* from = x + b * layout.block;
    __m512 most = _mm512_setzero_ps();
    __mmask16 finite = 0xffff;
    for (int64_t k = 0; k < layout.block; k += 16) {
      const __m512 size = _mm512_abs_ps(_mm512_loadu_ps(from + k));
      finite &= _mm512_cmp_ps_mask(size, _mm512_set1_ps(HUGE_VALF), _CMP_LT_OQ);
      most = _mm512_max_ps(most, size);
    }
    const float largest = _mm512_reduce_max_ps(most);
    if (finite != 0xffff || (largest != 0 && largest < kSmallest)) return false;
    const float scale = largest / kLargest;
    const __m512 inverse = _mm512_set1_ps(largest == 0 ? 0 : kLargest / largest);
    int64_t sum = 0;
    for (int64_t k = 0; k < layout.block; k += 16) {
      __m512i rest = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(from + k), inverse));
      sum += _mm512_reduce_add_epi32(rest);
      for (int i = 0; i < kDigits; ++i) {
        const __m512i digit = i + 1 < kDigits ? next_digit(rest) : rest;
        _mm_storeu_si128(reinterpret_cast<__m128i*>(row.digits[i] + b * layout.block + k),
                         in_word_order<Bits>(_mm512_cvtepi32_epi8(digit)));
      }
    }
    row.scales[b] = scale;
    row.sums[b] = scale * static_cast<float>(sum);
  }
  return true;
}

INGOT_VNNI inline __m512 scales_at(const BlockLayout& layout, const std::byte* scales, int v) {
  if (!layout.half_scales) return _mm512_loadu_ps(scales + v * 64);
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales + v * 32)));
}

INGOT_VNNI inline __m512i four_digits(const int8_t* digits) {
  int32_t word = 0;
  std::memcpy(&word, digits, sizeof(word));
  return _mm512_set1_epi32(word);
}

// Products of one block: for each digit and vector of columns, in integers.
template <int Bits>
INGOT_VNNI inline void multiply_words(const std::byte* words, const Row& row, int64_t first, int64_t count,
                                      __m512i (&sums)[kDigits][kVectors]) {
  constexpr int64_t kPerWord = 32 / Bits;
  const __m512i low_halves = _mm512_set1_epi8(15);
  for (int64_t k = first; k < first + count; k += kPerWord, words += kPanel * 4) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      _mm_prefetch(reinterpret_cast<const char*>(words + kFetchAhead + v * 64), _MM_HINT_T0);
      const __m512i word = _mm512_loadu_si512(words + v * 64);
      const __m512i low = Bits == 4 ? _mm512_and_si512(word, low_halves) : word;
      const __m512i high = _mm512_and_si512(_mm512_srli_epi32(word, 4), low_halves);
#pragma GCC unroll 3
      for (int i = 0; i < kDigits; ++i) {
        sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], low, four_digits(row.digits[i] + k));
        if (Bits == 4) sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], high, four_digits(row.digits[i] + k + 4));
      }
    }
  }
}

template <int Bits>
INGOT_VNNI void multiply(const BlockLayout& layout, const std::byte* panel, const Row& row, float* out) {
  const __m512 base = _mm512_set1_ps(128);
  __m512 total[kVectors];
  for (__m512& t : total) t = _mm512_setzero_ps();
  for (int64_t b = 0; b < layout.blocks(); ++b, panel += layout.block_bytes()) {
    const std::byte* zeros = panel + layout.scale_bytes();
    const std::byte* words = zeros + (layout.has_zeros ? kPanel * 4 : 0);
    __m512i sums[kDigits][kVectors];
    for (auto& digit : sums)
      for (__m512i& sum : digit) sum = _mm512_setzero_si512();
    multiply_words<Bits>(words, row, b * layout.block, layout.block, sums);
    const __m512 scale = _mm512_set1_ps(row.scales[b]), x_sum = _mm512_set1_ps(-row.sums[b]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      __m512 value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[2][v]), base, _mm512_cvtepi32_ps(sums[1][v]));
      value = _mm512_fmadd_ps(value, base, _mm512_cvtepi32_ps(sums[0][v]));
      const __m512 zero = layout.has_zeros ? _mm512_loadu_ps(zeros + v * 64) : _mm512_set1_ps(layout.zero);
      value = _mm512_fmadd_ps(zero, x_sum, _mm512_mul_ps(value, scale));
      total[v] = _mm512_fmadd_ps(value, scales_at(layout, panel, v), total[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) _mm512_storeu_ps(out + v * 16, total[v]);
}

}  // namespace

bool has_block_digits(const BlockLayout& layout) {
  static const auto level = kernel::detect_isa_level();
  return level && *level >= kernel::IsaLevel::avx512_vnni && layout.block % 16 == 0;
}

int64_t block_digit_floats(const BlockLayout& layout) {
  return 2 * layout.blocks() + (kDigits * layout.depth + 3) / 4;
}

bool make_block_digits(const BlockLayout& layout, const float* x, float* digits) {
  const Row row(layout, digits);
  return layout.bits == 4 ? make_digits<4>(layout, x, row) : make_digits<8>(layout, x, row);
}

void multiply_block_digits(const BlockLayout& layout, const std::byte* panel, const float* digits,
                           float* out) {
  const Row row(layout, const_cast<float*>(digits));
  layout.bits == 4 ? multiply<4>(layout, panel, row, out) : multiply<8>(layout, panel, row, out);
}

}  // namespace ingot::cpu
