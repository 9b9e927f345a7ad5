#include "device/cpu/machine_speed.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>

#include "base/stopwatch.h"
#include "ingot/tensor.h"

namespace ingot::cpu {
namespace {

constexpr int kTries = 64;  // the best counts: anything else is a disturbance
constexpr double kMostSeconds = 0.2;
constexpr double kPatience = 0.01;  // seconds that one thread waits for the others
constexpr int64_t kRounds = 100000;
constexpr int kChains = 12;                     // more than latency times ports
constexpr int kPairChains = 8;                  // each needs a register for its products
constexpr int64_t kMemory = int64_t{64} << 20;  // of each thread
constexpr int64_t kPiece = int64_t{8} << 20;    // of it, read at a time

// Both return a number that depends on all the work.
[[gnu::target("avx512f")]] float multiply_add_512(int64_t rounds) {
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(0.5F);
  const __m512 factor = _mm512_set1_ps(0.75F), term = _mm512_set1_ps(0.25F);
  for (int64_t i = 0; i < rounds; ++i)
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
  float total = 0;
  for (const __m512& sum : sums) total += _mm512_cvtss_f32(sum);
  return total;
}

[[gnu::target("avx2,fma")]] float multiply_add_256(int64_t rounds) {
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(0.5F);
  const __m256 factor = _mm256_set1_ps(0.75F), term = _mm256_set1_ps(0.25F);
  for (int64_t i = 0; i < rounds; ++i)
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
  float total = 0;
  for (const __m256& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

[[gnu::target("avx512f,avx512vnni")]] int multiply_integers_512(int64_t rounds) {
  __m512i sums[kChains];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  const __m512i a = _mm512_set1_epi8(1), b = _mm512_set1_epi8(-1);
  for (int64_t i = 0; i < rounds; ++i)
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, b);
  int total = 0;
  for (const __m512i& sum : sums) total += _mm512_cvtsi512_si32(sum);
  return total;
}

// Widened, in pairs, as levels without VNNI do it; the multiplicand changes, or the compiler multiplies once.
[[gnu::target("avx2")]] int multiply_integers_256(int64_t rounds) {
  __m256i sums[kPairChains];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  const __m256i a = _mm256_set1_epi16(1);
  for (int64_t i = 0; i < rounds; ++i)
    for (__m256i& sum : sums) sum = _mm256_add_epi32(sum, _mm256_madd_epi16(sum, a));
  int total = 0;
  for (const __m256i& sum : sums) total += _mm256_extract_epi32(sum, 0);
  return total;
}

[[gnu::target("avx2")]] int64_t read_all(const std::byte* from, int64_t bytes) {
  __m256i even = _mm256_setzero_si256(), odd = even;
  for (int64_t i = 0; i < bytes; i += 64) {
    even = _mm256_or_si256(even, _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i)));
    odd = _mm256_or_si256(odd, _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i + 32)));
  }
  return _mm256_extract_epi64(_mm256_or_si256(even, odd), 0);
}

void raise(std::atomic<double>& value, double at_least) {
  double seen = value;
  while (seen < at_least && !value.compare_exchange_weak(seen, at_least)) {
  }
}

// The shortest time in which all threads did their work, begun together where the machine lets them.
double best_seconds(ThreadPool& pool, FunctionRef<void(int64_t thread, int attempt)> work) {
  double best = 1e30;
  const Stopwatch total;
  for (int attempt = 0; attempt < kTries && (attempt == 0 || total.seconds() < kMostSeconds); ++attempt) {
    std::atomic<int> here = 0;
    std::atomic<double> slowest = 0;
    pool.parallel_for(pool.size(), 1, [&](int64_t thread, int64_t, int) {
      ++here;
      const Stopwatch wait;
      while (here < pool.size() && wait.seconds() < kPatience) _mm_pause();
      const Stopwatch watch;
      work(thread, attempt);
      raise(slowest, watch.seconds());
    });
    best = std::min<double>(best, slowest);
  }
  return best;
}

double measure_flops(const kernel::Target& target, ThreadPool& pool) {
  const bool wide = target.lanes() == 16;
  std::atomic<float> result = 0;
  const double seconds = best_seconds(
      pool, [&](int64_t, int) { result = wide ? multiply_add_512(kRounds) : multiply_add_256(kRounds); });
  return 2.0 * kChains * target.lanes() * static_cast<double>(kRounds) * pool.size() / seconds;
}

double measure_integers(const kernel::Target& target, ThreadPool& pool) {
  const bool by_four = target.level >= kernel::IsaLevel::avx512_vnni;
  std::atomic<int> result = 0;
  const double seconds = best_seconds(pool, [&](int64_t, int) {
    result = by_four ? multiply_integers_512(kRounds) : multiply_integers_256(kRounds);
  });
  const int products = by_four ? 64 * kChains : 16 * kPairChains;
  return 2.0 * products * static_cast<double>(kRounds) * pool.size() / seconds;
}

double measure_bytes(ThreadPool& pool) {
  Tensor memory = Tensor::allocate(DType::u8, {kMemory * pool.size()});
  std::byte* data = memory.mutable_bytes().data();
  pool.parallel_for(kMemory * pool.size(), kPiece, [&](int64_t begin, int64_t end, int) {
    std::fill(data + begin, data + end, std::byte{1});
  });
  std::atomic<int64_t> result = 0;
  const double seconds = best_seconds(pool, [&](int64_t thread, int attempt) {
    result = read_all(data + thread * kMemory + attempt * kPiece % kMemory, kPiece);
  });
  return static_cast<double>(kPiece * pool.size()) / seconds;
}

}  // namespace

MachineSpeed measure_machine_speed(const kernel::Target& target, ThreadPool& pool) {
  return {.flops = measure_flops(target, pool),
          .integer_products = measure_integers(target, pool),
          .bytes = measure_bytes(pool)};
}

}  // namespace ingot::cpu
