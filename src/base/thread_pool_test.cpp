#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

#include "base/float_control.h"
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

// Keeps what it is told.
class Help : public LoopObserver {
 public:
  void helped(int worker, Time begin, Time end) noexcept override {
    const std::lock_guard lock(mutex_);
    workers.insert(worker);
    in_order = in_order && begin <= end;
  }
  std::set<int> workers;
  bool in_order = true;

 private:
  std::mutex mutex_;
};

TEST(ThreadPoolTest, ObserverIsToldOfEveryWorkerThatHelped) {
  ThreadPool pool(3);
  Help help;
  auto loop = [&] {
    Meeting meeting(3);
    pool.parallel_for(3, 1, [&](int64_t, int64_t, int) { meeting.arrive(); });
  };
  {
    const ObservedLoops observed(help);
    loop();
  }
  EXPECT_EQ(help.workers, (std::set<int>{0, 1}));
  EXPECT_TRUE(help.in_order);
  help.workers.clear();
  loop();  // not observed any more
  EXPECT_TRUE(help.workers.empty());
}

TEST(ThreadPoolTest, EveryIndexRunsOnce) {
  ThreadPool pool(4);
  for (int64_t n : {0, 1, 7, 64, 1001}) {
    for (int64_t grain : {-1, 1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(n));
      pool.parallel_for(n, grain, [&](int64_t begin, int64_t end, int) {
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
    pool.parallel_for(10, 4, [&](int64_t begin, int64_t end, int) {
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
  pool.parallel_for(3, 1, [&](int64_t, int64_t, int) {
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
  pool.parallel_for(20, 1, [&](int64_t i, int64_t, int) {
    pool.parallel_for(20, 1, [&](int64_t j, int64_t, int) {
      pool.parallel_for(5, 2,
                        [&](int64_t begin, int64_t end, int) { sum += (end - begin) * (i + 1) * (j + 1); });
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
        pool.parallel_for(100, 7, [&](int64_t begin, int64_t end, int) {
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
    pool.parallel_for(1000, 1, [&](int64_t i, int64_t, int) {
      if (i == 500) throw std::runtime_error("five hundred");
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  std::atomic<int> after = 0;
  pool.parallel_for(10, 1, [&](int64_t, int64_t, int) { ++after; });
  EXPECT_EQ(after, 10);
}

TEST(ThreadPoolTest, ChunksAfterAnExceptionAreNotBegun) {
  ThreadPool pool(1);
  int begun = 0;
  auto loop = [&] {
    pool.parallel_for(1000, 1, [&](int64_t i, int64_t, int) {
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
    pool.parallel_for(8, 1, [&](int64_t i, int64_t, int) {
      pool.parallel_for(8, 1, [&](int64_t j, int64_t, int) {
        if (i == 3 && j == 4) throw std::out_of_range("inner");
      });
    });
  };
  EXPECT_THROW(loops(), std::out_of_range);
}

TEST(ThreadPoolTest, ThreadsOfOneLoopHaveDifferentIndexes) {
  ThreadPool pool(3);
  std::array<std::array<std::atomic<int>, 3>, 2> inside = {};
  std::atomic<bool> alone = true;
  auto enter = [&](size_t loop, int thread) {
    ASSERT_GE(thread, 0);
    ASSERT_LT(thread, 3);
    std::atomic<int>& here = inside[loop][static_cast<size_t>(thread)];
    if (++here != 1) alone = false;
    std::this_thread::yield();
    --here;
  };
  auto caller = [&](size_t loop) {
    for (int round = 0; round < 200; ++round)
      pool.parallel_for(20, 1, [&](int64_t, int64_t, int thread) {
        enter(loop, thread);
        pool.parallel_for(2, 1, [](int64_t, int64_t, int) {});
      });
  };
  std::thread other(caller, 0);
  caller(1);
  other.join();
  EXPECT_TRUE(alone);
}

TEST(ThreadPoolTest, MoreLoopsAtATimeThanSlotsFinish) {
  ThreadPool pool(2);
  std::atomic<int> leaves = 0;
  auto descend = [&](auto& self, int depth) -> void {
    if (depth == 100) {
      ++leaves;
      return;
    }
    pool.parallel_for(2, 1, [&](int64_t i, int64_t, int) {
      if (i == 0) self(self, depth + 1);
    });
  };
  descend(descend, 0);
  EXPECT_EQ(leaves, 1);
}

TEST(ThreadPoolTest, ChunksRunInTheFloatingPointModeOfTheCaller) {
  ThreadPool pool(3);
  volatile double tiny = 1e-300;
  auto results = [&] {  // of a product that is denormal, on each thread
    Meeting meeting(3);
    std::array<double, 3> products = {};
    pool.parallel_for(3, 1, [&](int64_t i, int64_t, int) {
      meeting.arrive();
      products[static_cast<size_t>(i)] = tiny * 1e-10;
    });
    return products;
  };
  const std::array<double, 3> kept = {1e-310, 1e-310, 1e-310};
  EXPECT_EQ(results(), kept);
  {
    FlushDenormals flush;
    EXPECT_EQ(results(), (std::array<double, 3>{}));
  }
  EXPECT_EQ(results(), kept);
}

TEST(FlushDenormalsTest, RestoresTheStateOfTheThreadExactly) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | 0x2000u);  // rounding down
  const unsigned odd = _mm_getcsr();
  {
    FlushDenormals flush;
    EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
    EXPECT_EQ(_mm_getcsr() & 0x6000u, 0x2000u);
  }
  EXPECT_EQ(_mm_getcsr(), odd);
  _mm_setcsr(before);
}

// Far above what it takes (benchmarks measure that), so that it holds on a busy machine.
TEST(ThreadPoolTest, ALoopTakesMicroseconds) {
  ThreadPool pool(2);
  std::atomic<int> chunks = 0;
  double least = 1;
  for (int round = 0; round < 200; ++round) {
    auto start = std::chrono::steady_clock::now();
    pool.parallel_for(2, 1, [&](int64_t, int64_t, int) { ++chunks; });
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_EQ(chunks, 400);
  EXPECT_LT(least, 100e-6);
}

TEST(SharedThreadPoolTest, EqualPoolsAreOneWhileSomeoneHoldsIt) {
  auto pool = shared_thread_pool(3);
  EXPECT_EQ(pool->size(), 3);
  EXPECT_EQ(shared_thread_pool(3), pool);
  EXPECT_NE(shared_thread_pool(2), pool);
  std::weak_ptr<ThreadPool> gone = pool;
  pool.reset();
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(shared_thread_pool(3)->size(), 3);
}

TEST(SharedThreadPoolTest, AnotherAffinityHasItsOwnPool) {
  EXPECT_TRUE(runs_in_child([] {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
    if (CPU_COUNT(&all) < 2) return true;
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    auto pool = shared_thread_pool(2);
    return sched_setaffinity(0, sizeof one, &one) == 0 && shared_thread_pool(2) != pool;
  }));
}

TEST(ThreadPoolTest, IdleThreadsUseNoProcessorTime) {
  ThreadPool pool(4);
  pool.parallel_for(100, 1, [](int64_t, int64_t, int) {});
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
