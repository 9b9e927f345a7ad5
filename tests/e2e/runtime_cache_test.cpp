// Kernels in files, and prebuilt ones, as a user meets them.
#include "ingot/runtime_cache.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

#include "e2e/kernel_files.h"
#include "support/quiet_logger.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

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

TEST_F(KernelFiles, CompilePrebuildsForOtherProcessors) {
  write_model();
  const std::string built = folder_.file("built.ingot");
  const auto compile = [&](const std::string& targets) {
    return ingot({"compile", model_, "-o", built, "--dim", "n=1:20:64", "--prebuild", targets, "-q"});
  };
  EXPECT_EQ(compile("cpu:avx2,").exit_code, 2);
  EXPECT_EQ(compile("cpu:avx1024").exit_code, 1);
  EXPECT_FALSE(fs::exists(built + ".kernels"));
  const ProgramResult made = compile("cpu:x86-64-v3,cpu:amx");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto start = [&](const char* n) {
    return run_program({INGOT_PROGRAM, "exec", built, "--device", "cpu", "--random-seed", "1", "--isa",
                        "avx2", "--kernels", built + ".kernels", "--dim", n},
                       [] {
                         setenv("INGOT_CACHE", "", 1);
                         setenv("INGOT_JIT_LIBRARY", "/nowhere.so", 1);
                       });
  };
  for (const char* n : {"n=1", "n=20", "n=64"}) EXPECT_EQ(start(n).exit_code, 0) << start(n).err;
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

}  // namespace
}  // namespace ingot
