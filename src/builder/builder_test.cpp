#include "ingot/builder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>

#include "base/sha256.h"
#include "engine/engine_file.h"
#include "ingot/error.h"
#include "ingot/logger.h"
#include "ir/parse.h"
#include "support/child.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

Graph sample() {
  return parse_graph(R"(graph "sample" {
    symbol batch in [1, 64]
    %0 = input "x" : f32[batch, 4]
    %1 = input "y" : f32[rows, 4]
    %2 = add(%0, %0) : f32[batch, 4]
    %3 = relu(%1) : f32[rows, 4]
    %4 = relu(%2) : f32[batch, 4]
    output "a" = %2
    output "b" = %3
  })");
}

Graph large() {
  GraphBuilder g("large");
  for (int i = 0; i < 3; ++i) {
    Tensor t = Tensor::allocate(DType::u8, {5 << 20});
    for (size_t k = 0; k < t.bytes().size(); ++k)
      t.mutable_bytes()[k] = static_cast<std::byte>(k * 13 + k / 999);
    t.mutable_bytes()[0] = static_cast<std::byte>(i);
    g.output("out" + std::to_string(i), g.constant(t));
  }
  return std::move(g).finish();
}

EngineContent content_of(std::vector<std::byte> bytes) {
  auto kept = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return read_engine(*kept, kept, "test");
}

std::string type_of_input(const EngineContent& content, size_t i) {
  return to_string(content.graph.type(content.graph.inputs().at(i).value));
}

Dim dim_of_input(const EngineContent& content, size_t i) {
  return content.graph.type(content.graph.inputs().at(i).value).dims->at(0);
}

std::string refusal(const Graph& graph, const BuilderConfig& config,
                    ErrorCode code = ErrorCode::invalid_argument) {
  Error error = thrown_by([&] { build_engine(graph, config); });
  EXPECT_EQ(error.code(), code) << error.what();
  return error.what();
}

TEST(Builder, FileAndMemoryGiveTheSameEngine) {
  TempFolder folder;
  std::string path = folder.file("a.ingot");
  BuildReport report = build_engine_file(large(), path);
  BuildReport in_memory;
  std::vector<std::byte> bytes = build_engine(large(), {}, &in_memory);
  EXPECT_EQ(sha256(read_file(path)), sha256(bytes));
  EXPECT_EQ(report.digest, in_memory.digest);
  EXPECT_EQ(report.file_bytes, bytes.size());
  EXPECT_EQ(report.weight_bytes, 3u * (5 << 20));
  EXPECT_EQ(report.digest, to_hex(engine_digest(bytes)));
  EXPECT_GT(report.peak_memory, report.start_memory / 2);
}

TEST(Builder, RemovesWhatNoOutputNeeds) {
  BuildReport report;
  build_engine(sample(), {}, &report);
  EXPECT_EQ(report.nodes_before, 5u);
  EXPECT_EQ(report.nodes_after, 4u);
  BuilderConfig config;
  config.disabled_passes = {"remove_dead_code"};
  build_engine(sample(), config, &report);
  EXPECT_EQ(report.nodes_after, 5u);
}

// y = f(x) - g(x) with sizes known only at run time; f or g first.
Graph in_order(bool swapped) {
  GraphBuilder g("two");
  Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n")}));
  Value a, b, scale;
  if (swapped) b = g.non_zero(g.tanh(x));
  scale = g.constant(Tensor::of<int64_t>({}, {2}));
  a = g.non_zero(g.mul(x, x));
  if (!swapped) b = g.non_zero(g.tanh(x));
  g.output("squares", g.mul(a, scale));
  g.output("difference", g.sub(g.reduce_max(a, {}), g.reduce_max(b, {})));
  g.output("tanh", b);
  return std::move(g).finish();
}

// Which operand is added first is up to the compiler in nested builder calls.
TEST(Builder, TheOrderInWhichNodesWereAddedDoesNotMatter) {
  EXPECT_EQ(build_engine(in_order(false)), build_engine(in_order(true)));
}

TEST(Builder, ProfilesNarrowTheRanges) {
  BuilderConfig config;
  config.profiles = {{"few", {{"x", {{1, 4}, {2, 4}, {4, 4}}}}, {{"rows", {1, 1, 1}}}},
                     {"many", {{"x", {{8, 4}, {16, 4}, {32, 4}}}}, {}}};
  EngineContent content = content_of(build_engine(sample(), config));
  EXPECT_EQ(content.profiles, config.profiles);
  EXPECT_EQ(dim_of_input(content, 0).low(), 1);
  EXPECT_EQ(dim_of_input(content, 0).high(), 32);
  EXPECT_EQ(dim_of_input(content, 1).high(), Dim::kMax);  // "many" does not mention it
}

TEST(Builder, NamedDimensionsBecomeOneSize) {
  BuilderConfig config;
  config.dimension_names = {{"x", {"n", ""}}, {"y", {"n", ""}}};
  config.profiles = {{"p", {}, {{"n", {1, 2, 3}}}}};
  EngineContent content = content_of(build_engine(sample(), config));
  EXPECT_EQ(type_of_input(content, 0), "f32[n, 4]");
  EXPECT_EQ(type_of_input(content, 1), "f32[n, 4]");
  EXPECT_EQ(dim_of_input(content, 1).high(), 3);
}

TEST(Builder, ProfilesThatDoNotFitAreRefused) {
  auto with = [](Profile profile) {
    BuilderConfig config;
    config.profiles = {std::move(profile)};
    const std::string text = refusal(sample(), config);
    const std::string remedy = ". 'ingot inspect --summary MODEL' shows the inputs and their dimensions.";
    EXPECT_TRUE(text.ends_with(remedy)) << text;
    return text.substr(0, text.size() - std::min(text.size(), remedy.size()));
  };
  EXPECT_EQ(with({"p", {{"z", {}}}, {}}),
            "profile 'p', input 'z': expected one of the inputs x, y, found no input of this name");
  EXPECT_EQ(with({"p", {{"x", {{1}, {1}, {1}}}}, {}}),
            "profile 'p', input 'x': expected shapes of 2 dimensions, found [1]");
  EXPECT_EQ(with({"p", {{"x", {{1, 4}, {1, 5}, {1, 5}}}}, {}}),
            "profile 'p', dimension 1 of input 'x': expected 4, which is fixed, found 4..5..5");
  EXPECT_EQ(with({"p", {{"x", {{2, 4}, {1, 4}, {3, 4}}}}, {}}),
            "profile 'p', dimension 0 of input 'x': expected 0 <= min <= opt <= max, found 2..1..3");
  EXPECT_EQ(with({"p", {}, {{"batch", {1, 2, 65}}}}),
            "profile 'p', dimension 'batch': expected batch within 1..64, found 1..2..65");
  EXPECT_EQ(with({"p", {}, {{"cols", {1, 1, 1}}}}),
            "profile 'p', dimension 'cols': expected one of the dimensions batch, rows, found no dimension "
            "of this name");
  EXPECT_EQ(with({"p", {{"x", {{1, 4}, {2, 4}, {3, 4}}}}, {{"batch", {1, 2, 4}}}}),
            "profile 'p', dimension 'batch': expected batch = 1..2..3, as elsewhere in the profile, found "
            "1..2..4");
  BuilderConfig config;
  config.profiles = {{"p", {}, {}}, {"p", {}, {}}};
  EXPECT_EQ(refusal(sample(), config),
            "profile 'p': expected names that differ, found this name twice. Rename one of the two.");
}

TEST(Builder, NamesThatDoNotFitAreRefused) {
  auto with = [](std::map<std::string, std::vector<std::string>> names) {
    BuilderConfig config;
    config.dimension_names = std::move(names);
    return refusal(sample(), config);
  };
  EXPECT_NE(with({{"z", {"n", ""}}}).find("one of the tensor inputs of known rank: x, y"), std::string::npos);
  EXPECT_NE(with({{"x", {"n"}}}).find("expected 2 names, found 1"), std::string::npos);
  EXPECT_NE(with({{"x", {"n", "m"}}}).find("no name for dimension 1, which is 4"), std::string::npos);
}

TEST(Builder, TargetsAndPassesAreChecked) {
  BuilderConfig config;
  config.targets = {"tpu"};
  EXPECT_EQ(refusal(sample(), config),
            "target 'tpu': expected one of reference, cpu, cuda, cuda:sm75, cuda:sm80, cuda:sm86, "
            "cuda:sm89, cuda:sm90, cuda:sm100, cuda:sm120, found another name."
            " Leave targets out for an engine that runs on cpu and reference.");
  config.targets = {};
  EXPECT_EQ(refusal(sample(), config),
            "target: expected at least one of reference, cpu, cuda, cuda:sm75, cuda:sm80, cuda:sm86, "
            "cuda:sm89, cuda:sm90, cuda:sm100, cuda:sm120, found none."
            " Leave targets out for an engine that runs on cpu and reference.");
  config.targets = {"cpu", "cpu"};
  EXPECT_EQ(refusal(sample(), config),
            "target 'cpu': expected each target once, found this one twice."
            " Leave targets out for an engine that runs on cpu and reference.");
  config = {};
  config.disabled_passes = {"wonder"};
  EXPECT_NE(refusal(sample(), config).find("no pass of this name"), std::string::npos);
}

TEST(Builder, ErrorsGoToTheRecorderElseToTheLogger) {
  class CountingLogger : public Logger {
   public:
    int errors = 0;

   private:
    void log(LogLevel level, std::string_view) noexcept override { errors += level == LogLevel::error; }
  };
  CountingLogger logger;
  BuilderConfig config;
  config.targets = {"abacus"};
  config.logger = &logger;
  config.recorder = std::make_shared<ErrorRecorder>();
  thrown_by([&] { build_engine(sample(), config); });
  EXPECT_EQ(config.recorder->count(), 1u);
  EXPECT_EQ(logger.errors, 0);
  config.recorder = nullptr;
  thrown_by([&] { build_engine(sample(), config); });
  EXPECT_EQ(logger.errors, 1);
}

// x in another type and back.
Graph through(DType dtype) {
  GraphBuilder g("through");
  const Value x = g.input("x", Type::tensor(DType::f32, {4}));
  g.output("y", g.cast(g.cast(g.add(x, x), {.to = dtype}), {.to = DType::f32}));
  return std::move(g).finish();
}

TEST(Builder, TypesAreCheckedAgainstEachTarget) {
  auto builds = [](DType dtype, const std::string& target) {
    BuilderConfig config;
    config.targets = {"cpu", target};
    try {
      build_engine(through(dtype), config);
      return true;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::unsupported) << e.what();
      return false;
    }
  };
  for (const char* target : {"reference", "cuda:sm89", "cuda:sm90", "cuda:sm120"})
    EXPECT_TRUE(builds(DType::f8e4m3fn, target)) << target;
  for (const char* target : {"cuda", "cuda:sm75", "cuda:sm80", "cuda:sm86"})
    EXPECT_FALSE(builds(DType::f8e4m3fn, target)) << target;
  EXPECT_TRUE(builds(DType::bf16, "cuda"));
  EXPECT_FALSE(builds(DType::bf16, "cuda:sm75"));
  EXPECT_FALSE(builds(DType::f8e5m2fnuz, "cuda:sm120"));
  EXPECT_TRUE(builds(DType::f16, "cuda:sm75"));
}

TEST(Builder, ATypeThatATargetLacksIsNamedWithItsNode) {
  BuilderConfig config;
  config.targets = {"cpu", "cuda:sm86"};
  const std::string text = refusal(through(DType::f8e4m3fn), config, ErrorCode::unsupported);
  EXPECT_NE(
      text.find("target 'cuda:sm86': expected no f8e4m3fn, which cuda:sm89 and later compute with, found "
                "f8e4m3fn[4] from cast"),
      std::string::npos)
      << text;
}

TEST(Builder, MemoryLimitNamesNeedAndRemedy) {
  BuilderConfig config;
  config.memory_limit =
      80 << 20;  // 64 MiB for itself and 15 MiB of constants fit; the file in memory does not
  TempFolder folder;
  EXPECT_NO_THROW(build_engine_file(large(), folder.file("a.ingot"), config));
  EXPECT_EQ(refusal(large(), config, ErrorCode::out_of_memory),
            "build: expected a need of at most 83886080 bytes, the memory limit, found an estimate of "
            "98566144 bytes, "
            "15728640 of them for constants. Raise the limit, or build to a file, which needs less.");
}

// Gives memory of the heap, and none for the allocation of a number.
class RefusingAllocator : public Allocator {
 public:
  explicit RefusingAllocator(int refused) : left_(refused) {}
  void* allocate(size_t size, size_t alignment, MemoryPurpose) noexcept override {
    if (left_-- == 0) return nullptr;
    ++live;
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  }
  void deallocate(void* memory, size_t) noexcept override {
    --live;
    std::free(memory);
  }
  int live = 0;

 private:
  int left_;
};

// Two constants are folded into one.
Graph foldable() {
  GraphBuilder g("foldable");
  const Value x = g.input("x", Type::tensor(DType::f32, {1024}));
  const std::vector<float> ones(1024, 1);
  const Value sum = g.add(g.constant(Tensor::of({1024}, ones)), g.constant(Tensor::of({1024}, ones)));
  g.output("y", g.mul(x, g.exp(sum)));
  return std::move(g).finish();
}

TEST(Builder, AnAllocatorMayRefuseEachAllocation) {
  const Graph graph = foldable();
  const std::vector<std::byte> expected = build_engine(graph);
  int refused = 0;
  for (;; ++refused) {
    auto allocator = std::make_shared<RefusingAllocator>(refused);
    BuilderConfig config;
    config.allocator = allocator;
    std::vector<std::byte> bytes;
    try {
      bytes = build_engine(graph, config);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
    }
    EXPECT_EQ(allocator->live, 0) << refused;
    if (bytes.empty()) continue;
    EXPECT_EQ(bytes, expected);
    break;
  }
  EXPECT_GT(refused, 0);
}

TEST(Builder, ReportsMemoryByPhase) {
  BuildReport report;
  build_engine(foldable(), {}, &report);
  EXPECT_GE(report.peak_allocated, 1024u * 4);
  uint64_t peak = 0;
  for (const BuildPhase& phase : report.phases) {
    if (phase.name.starts_with("pass ")) continue;
    EXPECT_GT(phase.memory, 0u) << phase.name;
    EXPECT_GE(phase.peak_memory, std::max(phase.memory, peak)) << phase.name;
    peak = phase.peak_memory;
  }
  EXPECT_EQ(report.peak_memory, peak);
}

class Recorder : public ProgressMonitor {
 public:
  explicit Recorder(int steps_allowed = 1000) : left_(steps_allowed) {}
  void phase_start(std::string_view phase, std::string_view parent, int64_t) override {
    log += fmt::format("{}<{}(", phase, parent);
  }
  bool step(std::string_view, int64_t) override { return left_-- > 0; }
  void phase_finish(std::string_view) override { log += ")"; }
  std::string log;

 private:
  int left_;
};

TEST(Builder, ProgressNestsAndCancelLeavesNoFile) {
  Recorder all;
  BuilderConfig config;
  config.progress = &all;
  TempFolder folder;
  build_engine_file(large(), folder.file("a.ingot"), config);
  EXPECT_EQ(all.log, "build<(passes<build()write<build()publish<build())");
  std::filesystem::remove(folder.file("a.ingot"));
  folder.write("old.ingot", "old content");
  for (int steps = 0; steps < 8; ++steps) {
    Recorder few(steps);
    config.progress = &few;
    for (const char* name : {"a.ingot", "old.ingot"}) {
      Error error = thrown_by([&] { build_engine_file(large(), folder.file(name), config); });
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
      EXPECT_EQ(std::ranges::count(few.log, '('), std::ranges::count(few.log, ')'));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.ingot")));
  EXPECT_EQ(read_file(folder.file("old.ingot")), "old content");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Builder, ShowsTheGraphAfterEachPass) {
  std::vector<std::string> names;
  BuilderConfig config;
  config.on_pass = [&](std::string_view pass, const Graph& graph) {
    names.push_back(fmt::format("{} {}", pass, graph.outputs().size()));
  };
  config.verify_each_pass = true;
  build_engine(sample(), config);
  EXPECT_EQ(names.back(), "order_nodes 2");
}

TEST(Builder, StripsWeights) {
  BuilderConfig config;
  config.strip_weights = true;
  BuildReport report;
  EngineContent content = content_of(build_engine(large(), config, &report));
  EXPECT_TRUE(content.stripped);
  EXPECT_EQ(content.missing.size(), 3u);
  EXPECT_LT(report.file_bytes, 4096u);
}

TEST(Builder, AFolderThatCannotBeWrittenIsNamed) {
  Error error = thrown_by([] { build_engine_file(sample(), "/no/such/folder/a.ingot"); });
  EXPECT_NE(std::string_view(error.what()).find("/no/such/folder/a.ingot"), std::string_view::npos);
}

// The same bytes whatever surrounds the build; each in a process of its own, since the surroundings are
// global.
TEST(Builder, SurroundingsDoNotChangeTheBytes) {
  TempFolder folder;
  std::filesystem::create_directory(folder.file("other"));
  auto build = [&](const char* name, int threads, const char* locale, const char* zone,
                   const std::string& at) {
    std::string path = folder.file(name);
    EXPECT_TRUE(runs_in_child([&] {
      setenv("LC_ALL", locale, 1);
      setenv("TZ", zone, 1);
      setlocale(LC_ALL, "");
      std::filesystem::current_path(at);
      BuilderConfig config;
      config.threads = threads;
      config.profiles = {{"p", {}, {}}};
      build_engine_file(large(), path, config);
      build_engine_file(sample(), path + ".sample", config);
      return true;
    }));
    return std::pair(sha256(read_file(path)), sha256(read_file(path + ".sample")));
  };
  auto first = build("a", 1, "C", "UTC", "/");
  EXPECT_EQ(build("b", 4, "C.UTF-8", "Asia/Tokyo", folder.file("other")), first);
  EXPECT_EQ(build("c", 2, "de_DE.UTF-8", "America/Lima", folder.path()), first);
}

}  // namespace
}  // namespace ingot
