#include "device/cpu/attention_plan.h"

#include <algorithm>
#include <numeric>

namespace ingot::cpu {
namespace {

constexpr int64_t kRows = 64;  // of a block: with the keys below, its scores stay in the second-level cache
constexpr int64_t kMostRows = 128;       // queries that are not worth a cut
constexpr int64_t kKeyElements = 32768;  // of a key block
constexpr int64_t kMostKeys = 512;
constexpr int64_t kKeyRounding = 64;  // whole panels of tiles
constexpr int64_t kWantedChunks = 24;
constexpr size_t kMostTogether = 8;
constexpr int64_t kSplitKeys = 512;  // fewer are not worth a merge

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<RowBlock> cut_rows(const AttentionSizes& sizes) {
  std::vector<RowBlock> blocks;
  if (sizes.queries > kMostRows) {
    const int64_t count = divide_up(sizes.queries, kRows), step = divide_up(sizes.queries, count);
    for (int64_t head = 0; head < sizes.group; ++head)
      for (int64_t first = 0; first < sizes.queries; first += step)
        blocks.push_back({head, first, 1, std::min(step, sizes.queries - first)});
    return blocks;
  }
  const int64_t step = std::max<int64_t>(1, kMostRows / sizes.queries);
  for (int64_t head = 0; head < sizes.group; head += step)
    blocks.push_back({head, 0, std::min(step, sizes.group - head), sizes.queries});
  return blocks;
}

std::vector<KeyBlock> cut_keys(const AttentionSizes& sizes) {
  const int64_t most =
      std::clamp(kKeyElements / std::max(sizes.size, sizes.value_size), kKeyRounding, kMostKeys);
  std::vector<KeyBlock> blocks;
  int64_t position = 0;
  for (size_t s = 0; s < sizes.segments.size(); ++s) {
    const int64_t keys = sizes.segments[s], count = divide_up(keys, most);
    const int64_t step = count <= 1 ? keys : divide_up(divide_up(keys, count), kKeyRounding) * kKeyRounding;
    for (int64_t first = 0; first < keys; first += step)
      blocks.push_back({s, first, std::min(step, keys - first), position + first});
    position += keys;
  }
  return blocks;
}

}  // namespace

int64_t AttentionSizes::keys() const { return std::accumulate(segments.begin(), segments.end(), int64_t{0}); }

int64_t AttentionPlan::most_rows() const {
  return std::ranges::max_element(rows, {}, &RowBlock::rows)->rows();
}
int64_t AttentionPlan::most_keys() const {
  return std::ranges::max_element(keys, {}, &KeyBlock::count)->count;
}
int64_t AttentionPlan::most_chunk_rows() const {
  return most_rows() * static_cast<int64_t>(std::min(rows_together, rows.size()));
}

AttentionPlan plan_attention(const AttentionSizes& sizes) {
  AttentionPlan plan{.rows = cut_rows(sizes), .keys = cut_keys(sizes)};
  const int64_t heads = sizes.batch * sizes.heads;
  const int64_t blocks = heads * static_cast<int64_t>(plan.rows.size());
  plan.rows_together = std::clamp<size_t>(static_cast<size_t>(blocks / kWantedChunks), 1, kMostTogether);
  const int64_t chunks = heads * static_cast<int64_t>(plan.row_chunks());
  const int64_t wanted = std::min(divide_up(kWantedChunks, chunks), sizes.keys() / kSplitKeys);
  plan.splits = static_cast<size_t>(std::clamp<int64_t>(wanted, 1, static_cast<int64_t>(plan.keys.size())));
  return plan;
}

}  // namespace ingot::cpu
