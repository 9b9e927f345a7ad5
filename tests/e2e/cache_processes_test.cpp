// Processes that share a cache, die while they write it, or are stuck.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "base/file_lock.h"
#include "base/stopwatch.h"
#include "e2e/kernel_files.h"
#include "support/child.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr int kProcesses = 12;

TEST_F(KernelFiles, ProcessesThatStartAtOnceCompileEachKernelOnce) {
  const int distinct = run({}, folder_.file("alone")).compiled();
  std::vector<Run> runs(kProcesses);
  std::vector<std::thread> threads;
  for (Run& one : runs) threads.emplace_back([&] { one = run({"--threads", "2"}, cache_); });
  for (std::thread& thread : threads) thread.join();
  int compiled = 0;
  for (const Run& one : runs) {
    expect_right(one);
    if (!one.report.is_discarded()) compiled += one.compiled();
  }
  EXPECT_EQ(compiled, distinct);
  for (const std::string& name : names_in(cache_)) EXPECT_NE(name[0], '.') << name;
}

TEST_F(KernelFiles, ProcessesThatSaveOneFileAtOnceLoseNothing) {
  std::vector<Run> runs(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < runs.size(); ++i)  // each for a level or a shape of its own
    threads.emplace_back([&, i] {
      runs[i] = run({"--runtime-cache-file", file_, "--isa", i % 2 ? "avx2" : "avx512", "--dim",
                     "n=" + std::to_string(1 + i)});
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].result.exit_code != 0) continue;  // a level that this processor lacks
    const Run again = run({"--runtime-cache-file", file_, "--isa", i % 2 ? "avx2" : "avx512", "--dim",
                           "n=" + std::to_string(1 + i)},
                          "", "/nowhere.so");
    ASSERT_EQ(again.result.exit_code, 0) << again.result.err;
    EXPECT_EQ(again.compiled(), 0);
  }
}

// Holds the locks of all kernels: stopped, as under a debugger.
TEST_F(KernelFiles, AStuckProcessDelaysOthersForATimeOnly) {
  expect_right(run({}, cache_));
  std::vector<std::string> kernels;
  for (const std::string& name : names_in(cache_))
    if (name.starts_with("kernel-")) kernels.push_back(name);
  fs::remove_all(cache_);
  fs::create_directory(cache_);
  chmod(cache_.c_str(), 0700);
  Child stuck([&] {
    const FileLock held = FileLock::lock(cache_ + "/.ingot-lock-" + kernels.at(0), std::chrono::seconds(1));
    pause();
    return true;
  });
  while (names_in(cache_).empty()) usleep(1000);
  const Run delayed = run({}, cache_);
  expect_right(delayed);
  EXPECT_NE(delayed.result.err.find("holds a lock too long"), std::string::npos) << delayed.result.err;
  stuck.kill();
  fs::remove_all(cache_);
  expect_right(run({}, cache_));
}

class KilledProcesses : public KernelFiles {
 protected:
  using Words = std::vector<std::string>;

  void SetUp() override {
    KernelFiles::SetUp();
    write_model();
  }

  Words build_words() const {
    return {"compile", model_, "-o", built_, "--dim", "n=1:2:4", "--prebuild", "cpu:avx2", "-q"};
  }
  Words start_words() const {
    return {"exec", engine_, "--device", "cpu", "--random-seed", "1", "--runtime-cache-file", file_};
  }
  Words merge_words() const { return {"kernel-cache", "merge", "--file", file_, "--from", cache_}; }

  // The program, in a process of its own.
  std::unique_ptr<Child> start(const Words& words) const {
    return std::make_unique<Child>([&] {
      setenv("INGOT_CACHE", cache_.c_str(), 1);
      const int nothing = open("/dev/null", O_RDWR);
      dup2(nothing, STDOUT_FILENO);
      dup2(nothing, STDERR_FILENO);
      std::vector<char*> all = {const_cast<char*>(INGOT_PROGRAM)};
      for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
      all.push_back(nullptr);
      execv(all[0], all.data());
      return false;
    });
  }
  double seconds_of(const Words& words) const {
    const Stopwatch watch;
    EXPECT_TRUE(start(words)->succeeded());
    return watch.seconds();
  }

  // Whatever there is, is whole; and what was interrupted works when it is done again.
  void expect_sound() const {
    EXPECT_TRUE(!fs::exists(built_) || ingot({"verify", built_}).exit_code == 0);
    kernel_cache({"verify", "--file", built_ + ".kernels"});
    kernel_cache({"verify", "--folder", cache_});
    kernel_cache({"verify", "--file", file_});
    expect_right(run({"--runtime-cache-file", file_}, cache_));
  }
  void make_temporaries_old() const {
    for (const std::string& folder : {cache_, folder_.path()})
      for (const std::string& name : names_in(folder))
        if (name.starts_with(".ingot-"))
          fs::last_write_time(folder + "/" + name, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }

  const std::string built_ = folder_.file("built.ingot");
};

// At moments spread over the time that each takes.
TEST_F(KilledProcesses, LeaveNothingUnreadable) {
  const std::vector<Words> all = {build_words(), start_words(), merge_words()};
  std::vector<double> seconds;
  for (const Words& words : all) seconds.push_back(seconds_of(words));
  std::mt19937 random(11);
  const int rounds = from_environment("INGOT_KILL_ROUNDS", 12);
  for (int round = 0; round < rounds; ++round) {
    const size_t which = static_cast<size_t>(round) % all.size();
    if (which == 0) fs::remove(built_);
    if (which == 1) fs::remove_all(cache_);
    if (which != 0) fs::remove(file_);
    const auto victim = start(all[which]);
    const double moment = std::uniform_real_distribution<double>(0, seconds[which])(random);
    std::this_thread::sleep_for(std::chrono::duration<double>(moment));
    victim->kill();
    expect_sound();
  }
  make_temporaries_old();
  fs::remove(file_);
  for (const std::string& name : names_in(cache_))
    if (!name.starts_with(".")) fs::remove(cache_ + "/" + name);
  for (const Words& words : all) EXPECT_TRUE(start(words)->succeeded());
  for (const std::string& folder : {cache_, folder_.path()})
    for (const std::string& name : names_in(folder)) EXPECT_NE(name[0], '.') << folder << "/" << name;
}

}  // namespace
}  // namespace ingot
