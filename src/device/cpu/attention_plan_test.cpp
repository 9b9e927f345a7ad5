#include "device/cpu/attention_plan.h"

#include <gtest/gtest.h>

#include <map>

namespace ingot::cpu {
namespace {

std::vector<AttentionSizes> many_sizes() {
  std::vector<AttentionSizes> all;
  for (const int64_t heads : {1, 4, 12})
    for (const int64_t group : {1, 3, 8, 20})
      for (const int64_t queries : {1, 16, 128, 129, 700})
        for (const std::vector<int64_t>& segments :
             {std::vector<int64_t>{1}, {77}, {1500}, {4096, 1}, {512, 64}})
          all.push_back({1, heads, group, queries, segments, 64, 80});
  return all;
}

TEST(AttentionPlanTest, EveryRowIsInOneBlock) {
  for (const AttentionSizes& sizes : many_sizes()) {
    std::map<std::pair<int64_t, int64_t>, int> seen;
    for (const RowBlock& block : plan_attention(sizes).rows)
      for (int64_t head = 0; head < block.heads; ++head)
        for (int64_t query = 0; query < block.queries; ++query)
          ++seen[{block.head + head, block.query + query}];
    EXPECT_EQ(static_cast<int64_t>(seen.size()), sizes.group * sizes.queries);
    for (const auto& [row, count] : seen) {
      EXPECT_EQ(count, 1);
      EXPECT_LT(row.first, sizes.group);
      EXPECT_LT(row.second, sizes.queries);
    }
  }
}

TEST(AttentionPlanTest, KeysFollowEachOtherAndStayWithinTheirSegment) {
  for (const AttentionSizes& sizes : many_sizes()) {
    int64_t position = 0;
    for (const KeyBlock& block : plan_attention(sizes).keys) {
      EXPECT_EQ(block.position, position);
      EXPECT_GT(block.count, 0);
      EXPECT_LE(block.first + block.count, sizes.segments[block.segment]);
      position += block.count;
    }
    EXPECT_EQ(position, sizes.keys());
  }
}

// Scores of a block, packed keys and values are to stay in the second-level cache.
TEST(AttentionPlanTest, BlocksAreSmall) {
  for (const AttentionSizes& sizes : many_sizes()) {
    const AttentionPlan plan = plan_attention(sizes);
    EXPECT_LE(plan.most_rows() * plan.most_keys() * 4, 256 << 10);
    EXPECT_LE(plan.most_keys() * sizes.value_size * 4, 256 << 10);
  }
}

TEST(AttentionPlanTest, FewRowsShareTheirKeys) {
  EXPECT_GT(plan_attention({1, 4, 8, 1, {4096, 1}, 64, 64}).splits, 1U);
  EXPECT_EQ(plan_attention({1, 4, 8, 1, {256, 1}, 64, 64}).splits, 1U);
  EXPECT_EQ(plan_attention({8, 12, 1, 512, {4096}, 64, 64}).splits, 1U);
}

}  // namespace
}  // namespace ingot::cpu
