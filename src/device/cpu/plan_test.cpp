#include "device/cpu/plan.h"

#include <gtest/gtest.h>

namespace ingot::cpu {
namespace {

// Reads and writes whole buffers; in place where told.
class FakeStep : public Step {
 public:
  FakeStep(std::vector<int32_t> from, int32_t to, bool in_place) : in_place_(in_place) {
    reads = std::move(from);
    writes = {to};
  }
  void run(const Frame&) const override {}
  std::string describe() const override { return "fake"; }
  std::vector<int32_t> reads_in_place() const override { return in_place_ ? reads : std::vector<int32_t>(); }

 private:
  bool in_place_;
};

Plan plan_of(std::vector<int64_t> sizes) {
  Plan plan;
  for (int64_t bytes : sizes) plan.buffers.push_back({.bytes = bytes});
  return plan;
}

void add(Plan& plan, std::vector<int32_t> from, int32_t to, bool in_place = false) {
  plan.steps.push_back(std::make_unique<FakeStep>(std::move(from), to, in_place));
}

bool overlap(const Buffer& a, const Buffer& b) {
  return a.slot < b.slot + b.bytes && b.slot < a.slot + a.bytes;
}

TEST(Plan, BuffersThatLiveTogetherLieApart) {
  Plan plan = plan_of({100, 200, 300, 64});
  add(plan, {}, 0);
  add(plan, {0}, 1);
  add(plan, {0, 1}, 2);
  add(plan, {2}, 3);
  plan_arena(plan, 1);
  EXPECT_FALSE(overlap(plan.buffers[0], plan.buffers[1]));
  EXPECT_FALSE(overlap(plan.buffers[1], plan.buffers[2]));
  EXPECT_FALSE(overlap(plan.buffers[2], plan.buffers[3]));
  EXPECT_EQ(plan.arena_bytes, 128 + 256 + 320);  // of the third step, each at a multiple of 64
}

TEST(Plan, AnOutputTakesOverAnOperandThatEnds) {
  Plan plan = plan_of({128, 128, 128});
  add(plan, {}, 0);
  add(plan, {0}, 1, true);
  add(plan, {1}, 2, true);
  plan_arena(plan, 1);
  EXPECT_EQ(plan.buffers[1].slot, plan.buffers[0].slot);
  EXPECT_EQ(plan.buffers[2].slot, plan.buffers[0].slot);
  EXPECT_EQ(plan.arena_bytes, 128);
}

TEST(Plan, AnOperandThatIsReadLaterKeepsItsMemory) {
  Plan plan = plan_of({128, 128, 128});
  add(plan, {}, 0);
  add(plan, {0}, 1, true);
  add(plan, {0, 1}, 2);
  plan_arena(plan, 1);
  EXPECT_FALSE(overlap(plan.buffers[0], plan.buffers[1]));
}

// Of buffers 0, an input, and 1, an output; 2 and 3 are values between.
Plan in_place_plan(int64_t input, int64_t output) {
  Plan plan = plan_of({input, output, 128, 128});
  plan.buffers[0].kind = Buffer::Kind::input;
  plan.buffers[1].kind = Buffer::Kind::output;
  plan.output_buffers = {1};
  return plan;
}

TEST(Plan, AnInputMayBeOverwrittenOnceNobodyReadsItAnyMore) {
  Plan plan = in_place_plan(128, 128);
  add(plan, {0}, 2);
  add(plan, {0}, 1, true);
  add(plan, {2, 1}, 3);
  EXPECT_TRUE(can_overwrite(plan, 0, 0));
  add(plan, {0}, 3);
  EXPECT_FALSE(can_overwrite(plan, 0, 0)) << "read after it has been overwritten";
}

TEST(Plan, AStepThatDoesNotReadInPlaceMayNotOverwriteWhatItReads) {
  Plan plan = in_place_plan(128, 128);
  add(plan, {0}, 1);
  EXPECT_FALSE(can_overwrite(plan, 0, 0));
  Plan smaller = in_place_plan(64, 128);
  add(smaller, {0}, 1, true);
  EXPECT_FALSE(can_overwrite(smaller, 0, 0));
}

TEST(Plan, AnOperandThatIsTooSmallIsNotTakenOver) {
  Plan plan = plan_of({64, 128});
  add(plan, {}, 0);
  add(plan, {0}, 1, true);
  plan_arena(plan, 1);
  EXPECT_FALSE(overlap(plan.buffers[0], plan.buffers[1]));
}

// 2 and 3 are larger than 1 but do not live with it; by size alone they would push it up.
TEST(Plan, ReachesWhatNoArenaCanDoWithout) {
  Plan plan = plan_of({640, 640, 1280, 1280, 640});
  add(plan, {}, 0);
  add(plan, {0}, 2);
  add(plan, {0, 2}, 1);
  add(plan, {1}, 3);
  add(plan, {1, 3}, 4);
  plan_arena(plan, 1);
  EXPECT_EQ(plan.least_bytes, 640 + 1280 + 640);
  EXPECT_EQ(plan.arena_bytes, plan.least_bytes);
}

// Needs scratch for each thread, or for all of them together.
class ScratchStep : public FakeStep {
 public:
  ScratchStep(int32_t from, int32_t to, int64_t bytes, bool shared)
      : FakeStep({from}, to, false), bytes_(bytes), shared_(shared) {}
  int64_t scratch_bytes() const override { return bytes_; }
  bool shares_scratch() const override { return shared_; }

 private:
  int64_t bytes_;
  bool shared_;
};

TEST(Plan, ScratchTakesMemoryThatNoBufferHasMeanwhile) {
  Plan plan = plan_of({128, 128, 1024, 128});
  add(plan, {}, 0);
  plan.steps.push_back(std::make_unique<ScratchStep>(0, 1, 100, false));
  add(plan, {1}, 2);
  plan.steps.push_back(std::make_unique<ScratchStep>(2, 3, 100, true));
  plan_arena(plan, 4);
  const Step& each = *plan.steps[1];
  EXPECT_EQ(each.scratch_stride, 128);
  EXPECT_EQ(plan.buffers.at(static_cast<size_t>(each.scratch)).bytes, 4 * 128);
  for (int buffer : {0, 1})
    EXPECT_FALSE(
        overlap(plan.buffers[static_cast<size_t>(buffer)], plan.buffers[static_cast<size_t>(each.scratch)]));
  EXPECT_EQ(plan.buffers.at(static_cast<size_t>(plan.steps[3]->scratch)).bytes, 128);
  EXPECT_EQ(plan.steps[0]->scratch, -1);
  EXPECT_EQ(plan.scratch_bytes, 4 * 128);
  EXPECT_EQ(plan.value_bytes, 1024 + 128);
  EXPECT_EQ(plan.arena_bytes, 128 + 1024 + 128);  // of the last step; the scratch of the second fits below
}

}  // namespace
}  // namespace ingot::cpu
