// What a plan asks its tiles to fetch ahead, seen by a tile that computes nothing.
#include <gtest/gtest.h>

#include <set>

#include "device/cpu/tile_plan.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kVectors = 4, kLanes = 16;

struct Fetches {
  const std::byte* b = nullptr;
  std::set<int64_t> lines = {};  // of b
  int64_t most_in_turn = 0;
};
Fetches* fetches = nullptr;

// Lines as the code of a dot fetches them.
void note_fetches(const kernel::TileCall* call) {
  if (call->next_step == 0) return;
  const int64_t in_turn = call->next_step / kLine;
  fetches->most_in_turn = std::max(fetches->most_in_turn, in_turn);
  const int64_t turns = call->tiles * call->tap_count * (call->depth / kernel::kTileTurn);
  const int64_t first = (call->next_b - fetches->b) / kLine;
  for (int64_t line = 0; line < turns * in_turn; ++line) fetches->lines.insert(first + line);
}

Fetches fetches_of(int64_t rows, int64_t depth, int64_t columns) {
  const TileChoice choice{.rows = 6, .vectors = kVectors, .lanes = kLanes};
  TileFunctions functions;
  for (int height = 1; height <= choice.rows; ++height) functions.set(height, note_fetches, height);
  TileProblem problem;
  problem.columns = columns;
  problem.depth = depth;
  problem.rows[kRowDims - 1] = plain_rows(rows, depth * 4);
  problem.b.slot = 1;
  const TilePlan plan(problem, {}, choice, functions);
  std::vector<std::byte> a(static_cast<size_t>(rows * depth * 4));
  std::vector<std::byte> b(static_cast<size_t>(depth * (columns + choice.columns()) * 4));
  std::vector<std::byte> scratch(static_cast<size_t>(plan.scratch_bytes() + kLine));
  std::array<std::byte*, 2> memory{a.data(), b.data()};
  Fetches seen{.b = b.data()};
  fetches = &seen;
  plan.run(memory.data(), 0, plan.chunks(), scratch.data());
  return seen;
}

TEST(TileFetch, ReachesEveryLineOfTheLastPanel) {
  constexpr int64_t kDepth = 384, kPanelLines = kDepth * kVectors * kLanes * 4 / kLine;
  for (const auto& [rows, panels] :
       std::vector<std::pair<int64_t, int64_t>>{{49, 24}, {128, 24}, {1000, 5}}) {
    const Fetches seen = fetches_of(rows, kDepth, panels * kVectors * kLanes);
    for (int64_t line = kPanelLines * (panels - 1); line < kPanelLines * panels; ++line)
      ASSERT_TRUE(seen.lines.contains(line)) << rows << " rows, line " << line;
  }
}

TEST(TileFetch, IsALineInATurnWhereManyRowsMeetAPanel) {
  EXPECT_EQ(fetches_of(1000, 384, 1536).most_in_turn, 1);
  EXPECT_GT(fetches_of(16, 384, 1536).most_in_turn, 1);
  EXPECT_LE(fetches_of(4, 384, 1536).most_in_turn, kernel::kMostTileFetches);
}

}  // namespace
}  // namespace ingot::cpu
