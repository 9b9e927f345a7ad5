#include "memory_stream.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace ingot::bench {
namespace {

constexpr size_t kWords = size_t{64} << 20;

const std::vector<uint64_t>& memory() {
  static const std::vector<uint64_t> words(kWords, 1);
  return words;
}

// Eight sums, so that loads rather than additions set the pace.
uint64_t read_all(const uint64_t* begin, const uint64_t* end) {
  uint64_t sums[8] = {};
  for (; begin + 8 <= end; begin += 8)
    for (int i = 0; i < 8; ++i) sums[i] += begin[i];
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace

double stream_read_rate(int threads) {
  const uint64_t* words = memory().data();
  const size_t part = kWords / static_cast<size_t>(threads);
  std::vector<uint64_t> totals(static_cast<size_t>(threads));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  for (size_t i = 0; i < totals.size(); ++i)
    workers.emplace_back([&, i] { totals[i] = read_all(words + i * part, words + (i + 1) * part); });
  for (std::thread& worker : workers) worker.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  volatile uint64_t kept = totals[0];  // or the reads would be dropped
  static_cast<void>(kept);
  return static_cast<double>(part * totals.size() * sizeof(uint64_t)) / seconds;
}

}  // namespace ingot::bench
