#include "base/cpu_affinity.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/cpu_count.h"
#include "base/thread_pool.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

TEST(CpuAffinity, HoldsWhileItLivesAndIsInheritedForGood) {
  const std::vector<int> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  const std::vector<int> last = {before.back()};
  std::vector<int> inside, of_child;
  {
    const CpuAffinity affinity(last);
    inside = allowed_cpus();
    std::thread([&] { of_child = allowed_cpus(); }).join();
  }
  EXPECT_EQ(inside, last);
  EXPECT_EQ(of_child, last);
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(CpuAffinity, NoCpusChangeNothing) {
  const std::vector<int> before = allowed_cpus();
  const CpuAffinity affinity({});
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(CpuAffinity, CpusThatThereAreNotAreRefused) {
  const int first = allowed_cpus().front();
  for (const std::vector<int>& cpus : std::vector<std::vector<int>>{{-1}, {1 << 20}, {first, first}}) {
    const Error e = thrown_by([&] { require_allowed_cpus(cpus, "cpus of a test"); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(e.parts().object, "cpus of a test");
  }
  require_allowed_cpus(allowed_cpus(), "cpus of a test");
}

TEST(CpuAffinity, PoolsAreSharedByThoseWithEqualCpus) {
  const std::vector<int> all = allowed_cpus(), one = {all.back()};
  const auto narrow = shared_thread_pool(0, one);
  EXPECT_EQ(narrow->size(), 1);
  EXPECT_EQ(shared_thread_pool(0, one), narrow);
  const auto pinned = shared_thread_pool(3, one);
  std::vector<std::vector<int>> seen(3);
  pinned->parallel_for(64, 1, [&](int64_t, int64_t, int thread) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that the workers come
    seen[static_cast<size_t>(thread)] = allowed_cpus();
  });
  EXPECT_EQ(seen[0], all) << "the caller stays where it was";
  EXPECT_TRUE(seen[1] == one || seen[2] == one);
}

}  // namespace
}  // namespace ingot
