#include "base/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>

#include "support/child.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

class CgroupQuotaTest : public testing::Test {
 protected:
  void put(const std::string& name, std::string_view content) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    folder_.write(name, content);
  }
  std::optional<double> quota(std::string_view membership) {
    return cgroup_cpu_quota(membership, folder_.path());
  }

  TempFolder folder_;
};

TEST_F(CgroupQuotaTest, Version2TakesTheSmallestOfTheGroupAndItsParents) {
  put("cpu.max", "400000 100000\n");
  put("a/cpu.max", "150000 100000\n");
  put("a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota("0::/a/b\n"), 1.5);
  EXPECT_EQ(quota("0::/\n"), 4.0);
}

TEST_F(CgroupQuotaTest, APathOfTheHostFallsBackToTheMount) {
  put("cpu.max", "50000 100000\n");
  EXPECT_EQ(quota("0::/system.slice/docker-1234.scope\n"), 0.5);
}

TEST_F(CgroupQuotaTest, Version1ReadsTheCpuControllerUnderEitherName) {
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  put("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("5:devices:/x\n4:cpu,cpuacct:/job\n0::/\n"), 3.0);
  put("cpu/cpu.cfs_quota_us", "200000\n");
  put("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("3:cpuset:/\n2:cpuacct,cpu:/gone\n"), 2.0);
}

TEST_F(CgroupQuotaTest, NoQuotaAndNonsenseGiveNothing) {
  put("cpu/cpu.cfs_quota_us", "-1\n");
  put("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("1:cpu:/\n"), std::nullopt);
  put("cpu.max", "banana\n");
  EXPECT_EQ(quota("0::/\nno colon\n:\n"), std::nullopt);
  EXPECT_EQ(quota(""), std::nullopt);
}

TEST(AvailableCpusTest, RespectsTheAffinityOfTheThread) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_TRUE(runs_in_child([] {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 && available_cpus() == 1;
  }));
}

}  // namespace
}  // namespace ingot
