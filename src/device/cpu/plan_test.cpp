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
  plan_arena(plan);
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
  plan_arena(plan);
  EXPECT_EQ(plan.buffers[1].slot, plan.buffers[0].slot);
  EXPECT_EQ(plan.buffers[2].slot, plan.buffers[0].slot);
  EXPECT_EQ(plan.arena_bytes, 128);
}

TEST(Plan, AnOperandThatIsReadLaterKeepsItsMemory) {
  Plan plan = plan_of({128, 128, 128});
  add(plan, {}, 0);
  add(plan, {0}, 1, true);
  add(plan, {0, 1}, 2);
  plan_arena(plan);
  EXPECT_FALSE(overlap(plan.buffers[0], plan.buffers[1]));
}

TEST(Plan, AnOperandThatIsTooSmallIsNotTakenOver) {
  Plan plan = plan_of({64, 128});
  add(plan, {}, 0);
  add(plan, {0}, 1, true);
  plan_arena(plan);
  EXPECT_FALSE(overlap(plan.buffers[0], plan.buffers[1]));
}

}  // namespace
}  // namespace ingot::cpu
