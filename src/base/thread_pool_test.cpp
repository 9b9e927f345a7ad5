#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>

#include "support/child.h"

namespace ingot {
namespace {

using namespace std::chrono_literals;

// Returns once `count` threads have come; the test fails after 30 seconds without them.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  void arrive() {
    std::unique_lock lock(mutex_);
    --missing_;
    all_here_.notify_all();
    EXPECT_TRUE(all_here_.wait_for(lock, 30s, [&] { return missing_ <= 0; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  int missing_;
};

double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(ThreadPoolTest, EveryIndexRunsOnce) {
  ThreadPool pool(4);
  for (int64_t n : {0, 1, 7, 64, 1001}) {
    for (int64_t grain : {-1, 1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(n));
      pool.parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++runs[static_cast<size_t>(i)];
      });
      EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](auto& r) { return r == 1; }))
          << n << " by " << grain;
    }
  }
}

TEST(ThreadPoolTest, ChunksDoNotDependOnTheNumberOfThreads) {
  auto chunks = [](int threads) {
    ThreadPool pool(threads);
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> seen;
    pool.parallel_for(10, 4, [&](int64_t begin, int64_t end) {
      std::lock_guard lock(mutex);
      seen.emplace(begin, end);
    });
    return seen;
  };
  std::set<std::pair<int64_t, int64_t>> expected = {{0, 4}, {4, 8}, {8, 10}};
  EXPECT_EQ(chunks(1), expected);
  EXPECT_EQ(chunks(2), expected);
  EXPECT_EQ(chunks(8), expected);
}

TEST(ThreadPoolTest, ChunksRunAtTheSameTimeTheCallerTakesPartAndWorkersBlockSignals) {
  ThreadPool pool(3);
  Meeting meeting(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  int blocking = 0;
  pool.parallel_for(3, 1, [&](int64_t, int64_t) {
    meeting.arrive();
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    blocking += sigismember(&blocked, SIGINT);
  });
  EXPECT_EQ(threads.size(), 3u);
  EXPECT_TRUE(threads.count(std::this_thread::get_id()));
  EXPECT_EQ(blocking, 2);
}

TEST(ThreadPoolTest, LoopsInsideLoopsFinish) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum = 0;
  pool.parallel_for(20, 1, [&](int64_t i, int64_t) {
    pool.parallel_for(20, 1, [&](int64_t j, int64_t) {
      pool.parallel_for(5, 2, [&](int64_t begin, int64_t end) { sum += (end - begin) * (i + 1) * (j + 1); });
    });
  });
  EXPECT_EQ(sum, 5 * 210 * 210);
}

TEST(ThreadPoolTest, SeveralCallersShareOnePool) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 200; ++round) {
        std::vector<int> data(100);
        pool.parallel_for(100, 7, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) data[static_cast<size_t>(i)] = c + round;
        });
        right += std::accumulate(data.begin(), data.end(), 0) == 100 * (c + round);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(right, 4 * 200);
}

TEST(ThreadPoolTest, AnExceptionReachesTheCallerAndSparesThePool) {
  ThreadPool pool(3);
  auto loop = [&] {
    pool.parallel_for(1000, 1, [&](int64_t i, int64_t) {
      if (i == 500) throw std::runtime_error("five hundred");
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  std::atomic<int> after = 0;
  pool.parallel_for(10, 1, [&](int64_t, int64_t) { ++after; });
  EXPECT_EQ(after, 10);
}

TEST(ThreadPoolTest, ChunksAfterAnExceptionAreNotBegun) {
  ThreadPool pool(1);
  int begun = 0;
  auto loop = [&] {
    pool.parallel_for(1000, 1, [&](int64_t i, int64_t) {
      ++begun;
      if (i == 5) throw std::runtime_error("five");
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  EXPECT_EQ(begun, 6);
}

TEST(ThreadPoolTest, AnExceptionOfAnInnerLoopPassesThroughTheOuterOne) {
  ThreadPool pool(3);
  auto loops = [&] {
    pool.parallel_for(8, 1, [&](int64_t i, int64_t) {
      pool.parallel_for(8, 1, [&](int64_t j, int64_t) {
        if (i == 3 && j == 4) throw std::out_of_range("inner");
      });
    });
  };
  EXPECT_THROW(loops(), std::out_of_range);
}

TEST(ThreadPoolTest, IdleThreadsUseNoProcessorTime) {
  ThreadPool pool(4);
  pool.parallel_for(100, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(20ms);
  double before = cpu_seconds();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(cpu_seconds() - before, 0.03);
}

TEST(ThreadPoolTest, ByDefaultHasTheSizeThatTheAffinityAllows) {
  EXPECT_EQ(ThreadPool(3).size(), 3);
  EXPECT_TRUE(runs_in_child([] {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 && ThreadPool().size() == 1;
  }));
}

}  // namespace
}  // namespace ingot
