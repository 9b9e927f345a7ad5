#include "base/file_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support/child.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using namespace std::chrono_literals;

// A child that holds the lock until it is killed or told to let go.
class Holder {
 public:
  explicit Holder(const std::string& path) : pipes_(), child_([&] { return hold(path); }) {
    char c;
    EXPECT_EQ(::read(pipes_.taken[0], &c, 1), 1);
  }
  Child& child() { return child_; }
  void release() { EXPECT_EQ(::write(pipes_.release[1], "r", 1), 1); }

 private:
  struct Pipes {
    Pipes() { EXPECT_TRUE(pipe(taken) == 0 && pipe(release) == 0); }
    ~Pipes() {
      for (int fd : {taken[0], taken[1], release[0], release[1]}) close(fd);
    }
    int taken[2], release[2];
  };

  bool hold(const std::string& path) {
    auto lock = FileLock::try_lock(path);
    char c;
    return lock && ::write(pipes_.taken[1], "t", 1) == 1 && ::read(pipes_.release[0], &c, 1) == 1;
  }

  Pipes pipes_;
  Child child_;
};

class FileLockTest : public testing::Test {
 protected:
  TempFolder folder_;
  std::string path_ = folder_.file("lock");
};

TEST_F(FileLockTest, IsHeldByOneUntilItsScopeEnds) {
  {
    auto lock = FileLock::try_lock(path_);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(FileLock::try_lock(path_));
    FileLock moved = std::move(*lock);
    EXPECT_FALSE(FileLock::try_lock(path_));
    EXPECT_EQ(FileLock::recorded_owner(path_), getpid());
  }
  EXPECT_TRUE(FileLock::try_lock(path_));
}

TEST_F(FileLockTest, AnotherProcessIsSeenAndItsDeathFreesTheLock) {
  Holder holder(path_);
  EXPECT_FALSE(FileLock::try_lock(path_));
  EXPECT_EQ(FileLock::recorded_owner(path_), holder.child().pid());
  holder.child().kill();
  auto lock = FileLock::try_lock(path_);
  EXPECT_TRUE(lock);
  EXPECT_EQ(FileLock::recorded_owner(path_), getpid());
}

TEST_F(FileLockTest, WaitsForTheOwnerAndTellsWhoItIs) {
  Holder holder(path_);
  pid_t seen = 0;
  FileLock::lock(path_, 60s, [&](pid_t owner, auto) {
    seen = owner;
    holder.release();
    return true;
  });
  EXPECT_EQ(seen, holder.child().pid());
  EXPECT_TRUE(holder.child().succeeded());
}

TEST_F(FileLockTest, GivesUpAfterTheTimeoutAndNamesTheOwner) {
  Holder holder(path_);
  auto start = std::chrono::steady_clock::now();
  Error e = thrown_by([&] { FileLock::lock(path_, 60ms); });
  EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms);
  EXPECT_EQ(e.code(), ErrorCode::device);
  EXPECT_EQ(e.parts().observed, "it held by process " + std::to_string(holder.child().pid()));
}

TEST_F(FileLockTest, TheCallbackCanCancel) {
  auto lock = FileLock::try_lock(path_);
  Error e = thrown_by([&] { FileLock::lock(path_, 60s, [](pid_t, auto) { return false; }); });
  EXPECT_EQ(e.code(), ErrorCode::cancelled);
}

TEST_F(FileLockTest, ExcludesThreadsOfOneProcess) {
  std::atomic<int> inside = 0, worst = 0, done = 0;
  auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      FileLock lock = FileLock::lock(path_, 60s);
      worst = std::max<int>(worst, ++inside);
      --inside;
      ++done;
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(worst, 1);
  EXPECT_EQ(done, 100);
}

TEST_F(FileLockTest, ADeletedLockFileDoesNotSplitTheLock) {
  auto old = FileLock::try_lock(path_);
  ASSERT_EQ(unlink(path_.c_str()), 0);
  auto current = FileLock::try_lock(path_);
  EXPECT_TRUE(current);
  old.reset();
  EXPECT_FALSE(FileLock::try_lock(path_));
}

TEST_F(FileLockTest, ExcludesEvenWhileOwnersDeleteTheLockFile) {
  std::atomic<int> inside = 0;
  std::atomic<bool> together = false;
  auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      auto lock = FileLock::try_lock(path_);
      if (!lock) continue;
      if (++inside > 1) together = true;
      std::this_thread::yield();
      --inside;
      unlink(path_.c_str());  // from here on others use a new file and rightly get in
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(together);
}

TEST_F(FileLockTest, RefusesAFolderAPipeAndAMissingFolder) {
  EXPECT_EQ(thrown_by([&] { FileLock::try_lock(folder_.path()); }).code(), ErrorCode::invalid_argument);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(thrown_by([&] { FileLock::try_lock(path_); }).parts().observed, "a pipe");
  EXPECT_EQ(thrown_by([&] { FileLock::try_lock(folder_.file("no/lock")); }).code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace ingot
