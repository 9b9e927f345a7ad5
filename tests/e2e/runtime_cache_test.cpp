// Kernels in files, and prebuilt ones, as a user meets them; and processes that share a cache or die with it.
#include "ingot/runtime_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/file_lock.h"
#include "ingot/builder.h"
#include "ingot/graph.h"
#include "kernel/target.h"
#include "support/child.h"
#include "support/quiet_logger.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kBlocks = 12;  // of the graph
constexpr int kKernels = 8;  // that it becomes, at least
constexpr int kProcesses = 12;

int from_environment(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

class KernelFiles : public testing::Test {
 protected:
  struct Run {
    ProgramResult result;
    Json report = {};
    int compiled() const { return report["kernels"]["compiled"].get<int>(); }
    std::string digest() const { return report["outputs"][0]["sha256"].get<std::string>(); }
  };

  void SetUp() override {
    if (!kernel::detect_isa_level()) GTEST_SKIP() << "the device cpu needs AVX2";
    build();
    expected_ = run({}).digest();
  }

  // Row kernels that differ in the length of their chain, so nothing embeds them; reductions keep them apart.
  void build() const {
    GraphBuilder g("many");
    const Dim n = Dim::symbol("n", 1, 64);
    Value x = g.input("x", Type::tensor(DType::f32, {n, 33}));
    for (int i = 0; i < kBlocks; ++i) {
      for (int j = 0; j <= i; ++j) x = g.tanh(g.add(x, x));
      x = g.softmax(x);
    }
    g.output("y", x);
    BuilderConfig config;
    config.profiles = {{"p", {}, {{"n", {1, 20, 64}}}}};
    build_engine_file(std::move(g).finish(), engine_, config);
  }

  // `ingot exec` with no other cache than `folder`.
  Run run(std::vector<std::string> more, const std::string& folder = "", const char* compiler = nullptr,
          const std::function<void()>& in_child = {}) const {
    std::vector<std::string> words = {INGOT_PROGRAM, "exec",          engine_, "--device",
                                      "cpu",         "--random-seed", "1",     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Run run{run_program(words, [&] {
      setenv("INGOT_CACHE", folder.c_str(), 1);
      if (compiler) setenv("INGOT_JIT_LIBRARY", compiler, 1);
      if (in_child) in_child();
    })};
    run.report = Json::parse(run.result.out, nullptr, false);
    return run;
  }
  Run run_file(const char* compiler = nullptr, const std::function<void()>& in_child = {}) const {
    return run({"--runtime-cache-file", file_}, "", compiler, in_child);
  }
  void expect_right(const Run& run) const {
    ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
    EXPECT_EQ(run.digest(), expected_);
  }
  static ProgramResult ingot(std::vector<std::string> words) {
    words.insert(words.begin(), INGOT_PROGRAM);
    return run_program(words);
  }
  static Json kernel_cache(std::vector<std::string> words, int exit_code = 0) {
    words.insert(words.begin(), "kernel-cache");
    words.emplace_back("--json");
    const ProgramResult r = ingot(words);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    return Json::parse(r.out, nullptr, false);
  }
  static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }

  TempFolder folder_;
  const std::string engine_ = folder_.file("many.ingot");
  const std::string file_ = folder_.file("app.cache");
  const std::string cache_ = folder_.file("cache");
  std::string expected_;
};

TEST_F(KernelFiles, AFileServesTheNextStartWithoutCompiler) {
  const Run cold = run_file();
  expect_right(cold);
  EXPECT_GE(cold.compiled(), kKernels);
  const Run warm = run_file("/nowhere.so");
  expect_right(warm);
  EXPECT_EQ(warm.compiled(), 0);
}

TEST_F(KernelFiles, DamageCostsWhatItHits) {
  expect_right(run_file());
  const std::string good = read_file(file_);
  std::mt19937 random(7);
  for (int i = 0; i < from_environment("INGOT_CACHE_FAULTS", 6); ++i) {
    std::string bad = good;
    const size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << (random() % 8)));
    std::ofstream(file_, std::ios::binary) << bad;
    const Run after = run_file();
    expect_right(after);
    EXPECT_LE(after.compiled(), at >= 64 ? 1 : 1000) << "byte " << at;
    std::ofstream(file_, std::ios::binary) << good.substr(0, at);
    expect_right(run_file());
  }
}

TEST_F(KernelFiles, FaultsOfTheFileNeverFailTheRun) {
  const auto expect_said = [&](const Run& run) {
    expect_right(run);
    EXPECT_NE(run.result.err.find("app.cache"), std::string::npos) << "nothing was said: " << run.result.err;
  };
  std::ofstream(file_) << std::string(1000, 'x');
  chmod(file_.c_str(), 0600);
  expect_said(run_file());
  EXPECT_EQ(read_file(file_), std::string(1000, 'x')) << "it may be something that is needed";
  fs::remove(file_);
  expect_right(run_file());
  chmod(file_.c_str(), 0666);
  expect_said(run_file());
  fs::remove(file_);
  fs::create_directory(file_);
  expect_said(run_file());
  fs::remove(file_);
  expect_said(run_file(nullptr, [] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};  // a full disk
    setrlimit(RLIMIT_FSIZE, &limit);
  }));
  EXPECT_FALSE(fs::exists(file_));
  expect_right(run({"--runtime-cache-file", "/proc/app.cache"}));
  if (fs::exists("/dev/shm")) {
    const std::string other = "/dev/shm/ingot-test-" + std::to_string(getpid());  // another file system
    expect_right(run({"--runtime-cache-file", other}));
    EXPECT_EQ(run({"--runtime-cache-file", other}, "", "/nowhere.so").compiled(), 0);
    fs::remove(other);
  }
}

TEST_F(KernelFiles, EntriesOfAnotherVersionAreMadeAgainAndLeaveTheFile) {
  expect_right(run_file());
  std::string content = read_file(file_);
  content[64 + 120] = static_cast<char>(content[64 + 120] ^ 1);  // the generator, so its digest is wrong too
  std::ofstream(file_, std::ios::binary) << content;
  const Run after = run_file();
  expect_right(after);
  EXPECT_EQ(after.compiled(), 1);
  expect_right(run_file("/nowhere.so"));
}

TEST_F(KernelFiles, PrebuiltKernelsAreOnlyLoaded) {
  const std::string here(to_string(std::min(*kernel::detect_isa_level(), kernel::IsaLevel::avx512)));
  RuntimeCache pack(quiet_logger());
  prebuild_kernels(engine_, {"cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:avx512-bf16", "cpu:amx"}, pack);
  pack.save(engine_ + ".kernels");
  for (const std::string& isa : {std::string("avx2"), here}) {
    const Run run = this->run({"--isa", isa, "--kernels", engine_ + ".kernels"}, "", "/nowhere.so");
    ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
    EXPECT_EQ(run.compiled(), 0);
  }
  const ProgramResult without = run({}, "", "/nowhere.so").result;
  EXPECT_NE(without.exit_code, 0) << "nothing would have had to be compiled";
}

TEST_F(KernelFiles, TheCommandListsVerifiesMergesPrunesAndClears) {
  expect_right(run({}, cache_));
  const Json list = kernel_cache({"list", "--folder", cache_});
  std::map<std::string, int> kinds;
  for (const Json& entry : list["entries"]) {
    ++kinds[entry["kind"]];
    EXPECT_EQ(entry["state"], "current");
    EXPECT_EQ(entry["engine"], list["entries"][0]["engine"]);
    EXPECT_TRUE(entry["target"].get<std::string>().starts_with("cpu:"));
  }
  EXPECT_GE(kinds["kernel"], kKernels);
  EXPECT_EQ(kinds["image"], 1);
  const Json merged = kernel_cache({"merge", "--file", file_, "--from", cache_});
  EXPECT_EQ(merged["added"], kinds["kernel"]);
  EXPECT_EQ(kernel_cache({"merge", "--file", file_, "--from", cache_})["added"], 0);
  EXPECT_EQ(run_file("/nowhere.so").compiled(), 0);
  kernel_cache({"verify", "--file", file_});
  kernel_cache({"verify", "--folder", cache_});

  EXPECT_EQ(kernel_cache({"prune", "--folder", cache_})["entries"].size(), 0u);
  const size_t before = names_in(cache_).size();
  EXPECT_EQ(kernel_cache({"prune", "--folder", cache_, "--max-size", "1", "-n"})["entries"].size(), before);
  EXPECT_EQ(kernel_cache({"clear", "--folder", cache_, "--dry-run"})["entries"].size(), before);
  EXPECT_EQ(names_in(cache_).size(), before);
  EXPECT_EQ(kernel_cache({"prune", "--file", file_, "--older-than", "1"})["entries"].size(), 0u);
  EXPECT_EQ(kernel_cache({"clear", "--file", file_})["entries"].size(), static_cast<size_t>(kinds["kernel"]));
  EXPECT_EQ(kernel_cache({"list", "--file", file_})["entries"].size(), 0u);
}

TEST_F(KernelFiles, TheCommandFindsDamageAndPrunesIt) {
  expect_right(run({}, cache_));
  expect_right(run_file());
  for (const std::string& name : names_in(cache_))
    if (name.starts_with("image-")) fs::resize_file(cache_ + "/" + name, 300);
  std::string content = read_file(file_);
  content[content.size() - 64] = static_cast<char>(content[content.size() - 64] ^ 1);
  std::ofstream(file_, std::ios::binary) << content;
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{"--folder", cache_}, std::vector<std::string>{"--file", file_}}) {
    const auto with = [&](const char* action) {
      return std::vector<std::string>{action, where[0], where[1]};
    };
    EXPECT_EQ(kernel_cache(with("verify"), 1)["entries"].size(), 1u) << where[1];
    EXPECT_EQ(kernel_cache(with("prune"))["entries"].size(), 1u) << where[1];
    EXPECT_EQ(kernel_cache(with("verify"))["entries"].size(), 0u) << where[1];
  }
}

TEST_F(KernelFiles, TheCommandRefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> wrong = {
      {"kernel-cache"},
      {"kernel-cache", "eat"},
      {"kernel-cache", "list", "--folder", "a", "--file", "b"},
      {"kernel-cache", "merge", "--file", "a"},
      {"kernel-cache", "list", "--from", "a"},
      {"kernel-cache", "list", "--max-size", "1M"},
      {"kernel-cache", "verify", "--dry-run"},
      {"kernel-cache", "prune", "--max-size", "much", "--folder", "a"}};
  for (const auto& words : wrong) EXPECT_EQ(ingot(words).exit_code, 2) << words.back();
  EXPECT_EQ(ingot({"kernel-cache", "list", "--folder", engine_}).exit_code, 1);
  EXPECT_EQ(ingot({"kernel-cache", "list", "--file", engine_}).exit_code, 1);
  EXPECT_EQ(ingot({"kernel-cache", "merge", "--file", file_, "--from", "missing"}).exit_code, 1);
  EXPECT_NE(ingot({"kernel-cache", "clear", "--file", engine_}).exit_code, 0);
  EXPECT_TRUE(fs::exists(engine_));
}

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

// Each round a build, a first start or a merge, killed somewhere; then what a user would do next.
TEST_F(KernelFiles, AKilledProcessLeavesNothingUnreadable) {
  const int rounds = from_environment("INGOT_KILL_ROUNDS", 12);
  std::mt19937 random(11);
  for (int round = 0; round < rounds; ++round) {
    fs::remove(file_);
    const std::vector<std::string> command =
        round % 3 == 0 ? std::vector<std::string>{"kernel-cache", "merge", "--file", file_, "--from", cache_}
        : round % 3 == 1 ? std::vector<std::string>{"exec",
                                                    engine_,
                                                    "--device",
                                                    "cpu",
                                                    "--random-seed",
                                                    "1",
                                                    "--runtime-cache-file",
                                                    file_}
                         : std::vector<std::string>{"exec", engine_, "--device", "cpu", "--random-seed", "1"};
    if (round % 3 != 0) fs::remove_all(cache_);
    Child victim([&] {
      setenv("INGOT_CACHE", cache_.c_str(), 1);
      const int nothing = open("/dev/null", O_RDWR);
      dup2(nothing, STDOUT_FILENO);
      dup2(nothing, STDERR_FILENO);
      std::vector<char*> words = {const_cast<char*>(INGOT_PROGRAM)};
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execv(words[0], words.data());
      return false;
    });
    usleep(static_cast<useconds_t>(random() % 150000));
    victim.kill();
    expect_right(run({"--runtime-cache-file", file_}, cache_));
    kernel_cache({"verify", "--folder", cache_});
    kernel_cache({"verify", "--file", file_});
  }
  // What is left of the dead goes when it is old.
  for (const std::string& folder : {cache_, folder_.path()})
    for (const std::string& name : names_in(folder))
      if (name.starts_with(".ingot-"))
        fs::last_write_time(folder + "/" + name, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::remove(file_);
  for (const std::string& name : names_in(cache_))
    if (!name.starts_with(".")) fs::remove(cache_ + "/" + name);
  expect_right(run({"--runtime-cache-file", file_}, cache_));
  for (const std::string& folder : {cache_, folder_.path()})
    for (const std::string& name : names_in(folder)) EXPECT_NE(name[0], '.') << folder << "/" << name;
}

}  // namespace
}  // namespace ingot
