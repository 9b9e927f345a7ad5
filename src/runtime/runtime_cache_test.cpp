#include "ingot/runtime_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "cache/container.h"
#include "runtime/test_engines.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// Kernels that nothing embeds: y = tanh(x + x) * factor over f32[n, 7].
Graph odd_graph(float factor) {
  GraphBuilder g("odd");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n", 1, 64), 7}));
  const Value scale = g.constant(Tensor::of<float>({1}, {factor}));
  g.output("y", g.mul(g.tanh(g.add(x, x)), scale));
  return std::move(g).finish();
}

const std::vector<Profile> kProfile = {{"p", {}, {{"n", {1, 4, 64}}}}};

Tensor rows(int64_t n) {
  return Tensor::of<float>({n, 7}, std::vector<float>(static_cast<size_t>(n) * 7, 0.25f));
}

class RuntimeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      GTEST_SKIP() << "the device cpu needs AVX2";
  }

  // Opens and runs it with this cache and nothing else, and lets go of it: the process has its kernels no
  // more.
  static EngineStats use(const std::shared_ptr<RuntimeCache>& cache, float factor = 3, int64_t n = 4) {
    RuntimeConfig config;
    config.device = "cpu";
    config.cache = cache;
    const auto engine = open_graph(odd_graph(factor), kProfile, config);
    const auto out = engine->create_context()->run({{"x", rows(n)}});
    EXPECT_NEAR(out.at("y").tensor().data<float>()[0], factor * std::tanh(0.5f), 1e-5f);
    return engine->stats();
  }
  static std::shared_ptr<RuntimeCache> in_memory() { return std::make_shared<RuntimeCache>(quiet_logger()); }
  std::shared_ptr<RuntimeCache> with_seed(const std::string& path) {
    return std::make_shared<RuntimeCache>(logger_, RuntimeCacheConfig{.seeds = {path}});
  }
  // The entries of a blob, changed.
  static std::vector<std::byte> changed(const std::vector<std::byte>& blob,
                                        const std::function<void(EntryInfo& info, size_t index)>& change) {
    std::vector<NamedEntry> entries = read_container(Mapping::copy_of(blob), "test").entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto payload = Mapping::copy_of(entries[i].entry->payload());
      EntryInfo info = entries[i].entry->info();
      change(info, i);
      entries[i].entry = std::make_shared<CacheEntry>(info, payload, payload->bytes());
    }
    return make_container(std::move(entries));
  }

  static void write_engine(const std::string& path) {
    const std::vector<std::byte> bytes = engine_bytes(odd_graph(3), {.profiles = kProfile});
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }

  TempFolder folder_;
  KeepingLogger logger_{LogLevel::warning};
};

TEST_F(RuntimeCacheTest, ServesEnginesAndRuntimesOneAfterTheOther) {
  const auto cache = in_memory();
  const EngineStats cold = use(cache);
  EXPECT_GT(cold.kernels_compiled, 0u);
  EXPECT_EQ(cache->stats().entries, cold.kernels_compiled);
  EXPECT_GT(cache->stats().compile_seconds, 0);
  const EngineStats warm = use(cache);
  EXPECT_EQ(warm.kernels_compiled, 0u);
  EXPECT_EQ(warm.kernels_cached, cold.kernels);
  EXPECT_EQ(cache->stats().hits, cold.kernels_compiled);
  EXPECT_GT(cache->stats().compile_seconds_saved, 0);
  cache->clear();
  EXPECT_EQ(cache->stats().entries, 0u);
  EXPECT_GT(use(cache).kernels_compiled, 0u);
}

TEST_F(RuntimeCacheTest, ABlobCarriesTheKernels) {
  const auto first = in_memory();
  const EngineStats cold = use(first);
  const std::vector<std::byte> blob = first->serialize();
  EXPECT_EQ(blob, first->serialize());
  const auto second = in_memory();
  EXPECT_EQ(second->deserialize(blob).added, cold.kernels_compiled);
  EXPECT_EQ(second->deserialize(blob).known, cold.kernels_compiled);
  EXPECT_EQ(use(second).kernels_compiled, 0u);
}

TEST_F(RuntimeCacheTest, MergesTwoWithoutDoubles) {
  const auto a = in_memory(), b = in_memory();
  use(a, 3);
  use(b, 5);
  const uint64_t before = a->stats().entries;
  const CacheImport result = a->merge(*b);
  EXPECT_EQ(a->stats().entries, before + result.added);
  EXPECT_EQ(use(a, 5).kernels_compiled, 0u);
  EXPECT_EQ(a->merge(*b).added, 0u);
}

// The process has them from the first engine; the second cache gets them all the same.
TEST_F(RuntimeCacheTest, HoldsAllKernelsOfItsEnginesWhoeverCompiledThem) {
  const auto first = in_memory(), second = in_memory();
  RuntimeConfig config;
  config.device = "cpu";
  config.cache = first;
  const auto one = open_graph(odd_graph(3), kProfile, config);
  config.cache = second;
  const auto two = open_graph(odd_graph(3), kProfile, config);
  EXPECT_EQ(two->stats().kernels_compiled, 0u);
  EXPECT_EQ(second->stats().entries, first->stats().entries);
  EXPECT_GT(second->stats().entries, 0u);
}

TEST_F(RuntimeCacheTest, EntriesThatAreOfNoUseAreCountedAndTheOthersUsed) {
  const auto first = in_memory();
  use(first, 3);
  use(first, 5);
  const std::vector<std::byte> blob = first->serialize();
  const uint64_t all = first->stats().entries;
  const auto try_with = [&](const std::function<void(EntryInfo&, size_t)>& change) {
    return in_memory()->deserialize(changed(blob, change));
  };
  EXPECT_EQ(try_with([](EntryInfo& info, size_t) { info.generator[0] ^= 1; }).rejected.other_version, all);
  EXPECT_EQ(try_with([](EntryInfo& info, size_t) { info.target = "cuda:sm_90"; }).rejected.other_device, all);
  EXPECT_EQ(
      try_with([](EntryInfo& info, size_t) { info.target = "cpu:from-the-future"; }).rejected.other_device,
      all);
  const CacheImport mixed = try_with([](EntryInfo& info, size_t i) {
    if (i == 0) info.generator[0] ^= 1;
  });
  EXPECT_EQ(mixed.rejected.other_version, 1u);
  EXPECT_EQ(mixed.added, all - 1) << "what still holds is kept";
  std::vector<std::byte> bad = blob;
  bad[bad.size() - 64] ^= std::byte{1};
  const auto cache = in_memory();
  const CacheImport result = cache->deserialize(bad);
  EXPECT_EQ(result.rejected.damaged, 1u);
  EXPECT_EQ(result.added, all - 1);
  EXPECT_EQ(cache->stats().rejected.damaged, 1u);
}

TEST_F(RuntimeCacheTest, GarbageIsRefusedAndChangesNothing) {
  const auto cache = in_memory();
  use(cache);
  const std::vector<std::byte> before = cache->serialize();
  const std::vector<std::byte> garbage(5000, std::byte{0x5a});
  EXPECT_EQ(thrown_by([&] { cache->deserialize(garbage); }).code(), ErrorCode::corrupt);
  std::vector<std::byte> newer = before;
  newer[8] = std::byte{2};
  EXPECT_EQ(thrown_by([&] { cache->deserialize(newer); }).code(), ErrorCode::incompatible);
  EXPECT_EQ(cache->serialize(), before);
}

// Eight engines, four of them equal, in as many threads; the object is asked meanwhile.
TEST_F(RuntimeCacheTest, ServesManyThreadsAtOnce) {
  const auto cache = in_memory();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        use(cache, static_cast<float>(1 + t % 4), 1 + t);
        const std::vector<std::byte> blob = cache->serialize();
        EXPECT_EQ(in_memory()->deserialize(blob).rejected.total(), 0u);
        (void)cache->stats();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 8; ++t)
    EXPECT_EQ(use(cache, static_cast<float>(1 + t % 4), 1 + t).kernels_compiled, 0u);
}

TEST_F(RuntimeCacheTest, AnObjectAndAFolderContradictEachOther) {
  RuntimeConfig config;
  config.cache = in_memory();
  config.cache_folder = "";
  EXPECT_EQ(thrown_by([&] { Runtime runtime(quiet_logger(), config); }).code(), ErrorCode::invalid_argument);
}

TEST_F(RuntimeCacheTest, FilesGrowAndLoseOnlyWhatNobodyCanUse) {
  const std::string path = folder_.file("app.cache");
  const auto first = in_memory(), second = in_memory();
  EXPECT_EQ(thrown_by([&] { first->load(path); }).code(), ErrorCode::not_found);
  use(first, 3);
  first->save(path);
  use(second, 5);
  second->save(path);
  const auto both = in_memory();
  EXPECT_EQ(both->load(path).rejected.total(), 0u);
  EXPECT_EQ(use(both, 3).kernels_compiled + use(both, 5).kernels_compiled, 0u);

  std::vector<std::byte> old = changed(both->serialize(), [](EntryInfo& info, size_t i) {
    if (i == 0) info.generator[0] ^= 1;
    if (i == 1) info.target = "cuda:sm_90";
  });
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(old.data()), std::ssize(old));
  in_memory()->save(path);
  const CacheImport left = in_memory()->load(path);
  EXPECT_EQ(left.rejected.other_version, 0u);
  EXPECT_EQ(left.rejected.other_device, 1u);
}

TEST_F(RuntimeCacheTest, OnlyUseMakesAnEntryRecentlyUsed) {
  const auto first = in_memory();
  use(first);
  std::vector<NamedEntry> old = read_container(Mapping::copy_of(first->serialize()), "test").entries;
  for (NamedEntry& named : old) named.used_seconds = 1000;
  const auto second = in_memory();
  second->deserialize(make_container(old));
  const auto times = [&] {
    std::set<int64_t> result;
    for (const NamedEntry& named : read_container(Mapping::copy_of(second->serialize()), "test").entries)
      result.insert(named.used_seconds);
    return result;
  };
  EXPECT_EQ(times(), std::set<int64_t>{1000});
  use(second);
  EXPECT_FALSE(times().contains(1000));
}

TEST_F(RuntimeCacheTest, SeedsAreOnlyRead) {
  const std::string file = folder_.file("app.cache"), seed_folder = folder_.file("seed");
  const auto in_folder = std::make_shared<RuntimeCache>(
      quiet_logger(), RuntimeCacheConfig{.memory = false, .folder = seed_folder});
  EXPECT_GT(use(in_folder).kernels_compiled, 0u);
  const auto memory = in_memory();
  memory->merge(*in_folder);
  memory->save(file);
  const auto count = [&] {
    return std::distance(fs::directory_iterator(seed_folder), fs::directory_iterator());
  };
  const auto before = count();
  const std::string bytes = read_file(file);
  for (const std::string& seed : {file, seed_folder}) {
    const auto cache = with_seed(seed);
    EXPECT_EQ(use(cache, 3).kernels_compiled, 0u) << seed;
    EXPECT_GT(use(cache, 7).kernels_compiled, 0u) << seed;
  }
  EXPECT_EQ(count(), before);
  EXPECT_EQ(read_file(file), bytes);
}

TEST_F(RuntimeCacheTest, ASeedThatCannotBeUsedIsSaidAndCounted) {
  const std::string path = folder_.write("app.cache", std::string(500, 'x'));
  EXPECT_EQ(with_seed(path)->stats().rejected.untrusted, 1u);
  EXPECT_TRUE(logger_.has(LogLevel::warning, "app.cache"));
  EXPECT_EQ(with_seed(folder_.file("missing"))->stats().rejected.untrusted, 1u);
  EXPECT_GT(use(with_seed(path)).kernels_compiled, 0u);
}

TEST_F(RuntimeCacheTest, TheLeastRecentlyUsedLeaveTheMemory) {
  const auto small =
      std::make_shared<RuntimeCache>(quiet_logger(), RuntimeCacheConfig{.memory_limit_bytes = 1});
  use(small);
  EXPECT_EQ(small->stats().entries, 0u);
  EXPECT_GT(small->stats().evicted, 0u);
}

TEST_F(RuntimeCacheTest, KernelsForOtherProcessorsArePrebuiltWithoutBeingRun) {
  const std::string path = folder_.file("odd.ingot");
  write_engine(path);
  const auto pack = in_memory();
  const std::vector<std::string> targets = {"cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:avx512-vnni", "cpu:amx"};
  prebuild_kernels(path, targets, *pack);
  std::set<std::string> made;
  for (const NamedEntry& named : read_container(Mapping::copy_of(pack->serialize()), "pack").entries)
    made.insert(named.entry->info().target);
  EXPECT_TRUE(made.contains("cpu:avx2"));
  EXPECT_TRUE(made.contains("cpu:avx512"));
  pack->save(folder_.file("odd.kernels"));
  for (const char* isa : {"avx2", "avx512"}) {
    if (isa == std::string_view("avx512") && !__builtin_cpu_supports("avx512vl")) continue;
    RuntimeConfig config;
    config.device = "cpu";
    config.isa = isa;
    config.cache = with_seed(folder_.file("odd.kernels"));
    const auto engine = Runtime(quiet_logger(), config).open(path);
    for (const int64_t n : {1, 4, 64}) engine->create_context()->run({{"x", rows(n)}});
    EXPECT_EQ(engine->stats().kernels_compiled, 0u) << isa;
  }
}

TEST_F(RuntimeCacheTest, TargetsThatAreNoneAreErrors) {
  const std::string path = folder_.file("odd.ingot");
  write_engine(path);
  const auto code_for = [&](const std::string& target) {
    return thrown_by([&] { prebuild_kernels(path, {target}, *in_memory()); }).code();
  };
  EXPECT_EQ(code_for("cuda:sm_90"), ErrorCode::not_found);
  EXPECT_EQ(code_for("cpu:avx1024"), ErrorCode::unsupported);
  EXPECT_EQ(code_for("cpu"), ErrorCode::unsupported);
  EXPECT_EQ(code_for("reference:any"), ErrorCode::unsupported);
}

}  // namespace
}  // namespace ingot
