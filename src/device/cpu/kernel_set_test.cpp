#include "device/cpu/kernel_set.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/bytes.h"
#include "ingot/error.h"
#include "kernel/embedded/embedded_kernels.h"
#include "support/child.h"
#include "support/nest_builder.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot::cpu {
namespace {

namespace fs = std::filesystem;
constexpr kernel::Target kTarget = {kernel::IsaLevel::avx2};
constexpr int kLanes = 8;

// factor * (a x b) for one row of one vector.
kernel::TileKernel scaled_product(double factor) {
  NestBuilder epilogue({1, kLanes}, {});
  const auto sum = epilogue.add({.kind = kernel::ExprKind::accumulator, .dtype = DType::f32, .args = {}});
  epilogue.store(DType::f32, {kLanes, 1}, epilogue.op(Op::Mul, {sum, epilogue.real(factor)}));
  return {.rows = 1, .vectors = 1, .epilogue = epilogue.nest};
}

void expect_scales_by(kernel::TileFunction tile, float factor, int vectors = 1) {
  const auto columns = static_cast<size_t>(kLanes * vectors);
  const std::vector<float> a = {1, 2, 3, 4, 5};
  std::vector<float> b(a.size() * columns), out(columns);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i);
  const auto* a_row = reinterpret_cast<const std::byte*>(a.data());
  auto* out_row = reinterpret_cast<std::byte*>(out.data());
  const kernel::TileTap tap;
  kernel::TileCall call;
  call.a_rows = &a_row;
  call.b = call.next_b = reinterpret_cast<const std::byte*>(b.data());
  call.taps = &tap;
  call.depth = static_cast<int64_t>(a.size());
  call.b_stride = static_cast<int64_t>(columns * sizeof(float));
  call.memory = &out_row;
  call.columns = static_cast<int64_t>(columns);
  tile(&call);
  for (size_t c = 0; c < columns; ++c) {
    float expected = 0;
    for (size_t k = 0; k < a.size(); ++k) expected += a[k] * b[k * columns + c];
    EXPECT_EQ(out[c], factor * expected);
  }
}

class KernelSetTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernel::detect_isa_level()) GTEST_SKIP() << "needs AVX2";
  }

  // The kernels scaled by 1 ... count, prepared and tried.
  KernelStats use(int count, const std::string& engine = "engine") {
    KernelSet set(kTarget, std::make_shared<Cache>(folder_.file("c")), engine);
    for (int i = 1; i <= count; ++i) EXPECT_EQ(set.add(scaled_product(i)), i - 1);
    set.prepare(2);
    for (int i = 1; i <= count; ++i) expect_scales_by(set.tile(i - 1), static_cast<float>(i));
    return set.stats();
  }
  std::vector<std::string> files(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder_.file("c")))
      if (file.path().filename().string().starts_with(prefix)) names.push_back(file.path().filename());
    return names;
  }
  void damage(const std::string& prefix) {
    for (const std::string& name : files(prefix)) {
      std::fstream file(folder_.file("c") + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-1, std::ios::end);
      file.put('\x7f');
    }
  }

  TempFolder folder_;
};

TEST_F(KernelSetTest, EqualKernelsHaveOneNumber) {
  KernelSet set(kTarget, nullptr, "");
  EXPECT_EQ(set.add(scaled_product(1)), 0);
  EXPECT_EQ(set.add(scaled_product(2)), 1);
  EXPECT_EQ(set.add(scaled_product(1)), 0);
  EXPECT_EQ(set.size(), 2);
}

TEST_F(KernelSetTest, AnUnpreparedKernelIsAnError) {
  KernelSet set(kTarget, nullptr, "");
  set.add(scaled_product(1));
  EXPECT_EQ(thrown_by([&] { set.tile(0); }).code(), ErrorCode::internal);
}

TEST_F(KernelSetTest, CompilesOnceThenLoadsTheImage) {
  EXPECT_EQ(use(4).compiled, 4u);
  const KernelStats warm = use(4);
  EXPECT_EQ(warm.image, 4u);
  EXPECT_EQ(warm.compiled, 0u);
}

TEST_F(KernelSetTest, WorksWithoutACache) {
  for (int i = 0; i < 2; ++i) {
    KernelSet set(kTarget, nullptr, "engine");
    set.add(scaled_product(3));
    set.prepare(1);
    expect_scales_by(set.tile(0), 3);
    EXPECT_EQ(set.origin(0), KernelOrigin::compiled);
    EXPECT_GT(set.code_bytes(0), 0u);
  }
}

TEST_F(KernelSetTest, CommonKernelsAreEmbedded) {
  if (!kernel::embedded_kernels()) GTEST_SKIP() << "built without INGOT_EMBED_KERNELS";
  NestBuilder epilogue({1, 1}, {});
  epilogue.nest.axes = {{kernel::Size::given(0), false}, {kernel::Size::given(1), false}};
  epilogue.store(DType::f32, {0, 1},
                 epilogue.add({.kind = kernel::ExprKind::accumulator, .dtype = DType::f32, .args = {}}));
  KernelSet set(kTarget, std::make_shared<Cache>(folder_.file("c")), "engine");
  const int id = set.add(kernel::TileKernel{.rows = 1, .vectors = 2, .epilogue = epilogue.nest});
  set.prepare(1);
  EXPECT_EQ(set.origin(id), KernelOrigin::embedded);
  expect_scales_by(set.tile(id), 1, 2);
  EXPECT_FALSE(fs::exists(folder_.file("c"))) << "nothing to keep";
}

TEST_F(KernelSetTest, EnginesShareKernels) {
  use(3, "first");
  const KernelStats second = use(4, "second");
  EXPECT_EQ(second.entry, 3u);
  EXPECT_EQ(second.compiled, 1u);
  EXPECT_EQ(use(4, "second").image, 4u);
}

TEST_F(KernelSetTest, EnginesOfOneProcessShareMemory) {
  KernelSet first(kTarget, nullptr, "first"), second(kTarget, nullptr, "second");
  for (KernelSet* set : {&first, &second}) {
    set->add(scaled_product(1));
    set->prepare(1);
  }
  EXPECT_EQ(second.origin(0), KernelOrigin::registry);
  EXPECT_EQ(first.tile(0), second.tile(0));
}

TEST_F(KernelSetTest, LaterKernelsJoinTheImage) {
  use(2);
  EXPECT_EQ(use(3).compiled, 1u);
  EXPECT_EQ(use(3).image, 3u);
  EXPECT_EQ(use(1).image, 1u);
  EXPECT_EQ(use(3).image, 3u) << "a start that needs less leaves the rest";
}

// As two processes do that met different shapes: both read the image before either writes it.
TEST_F(KernelSetTest, ImagesOfSetsThatGrowAtOnceAreMerged) {
  use(1);
  const auto cache = std::make_shared<Cache>(folder_.file("c"));
  KernelSet first(kTarget, cache, "engine"), second(kTarget, cache, "engine");
  for (KernelSet* set : {&first, &second}) {
    set->add(scaled_product(1));
    set->prepare(1);
  }
  first.add(scaled_product(2));
  second.add(scaled_product(3));
  first.prepare(1);
  second.prepare(1);
  EXPECT_EQ(cache->stats().lock_timeouts, 0u);
  const auto image = cache->find(files("image-").at(0));
  ASSERT_TRUE(image);
  const auto kernels = kernel::KernelImage::open(image->payload());
  ASSERT_TRUE(kernels.has_value());
  EXPECT_EQ(kernels->size(), 3u);
}

// Each has the turn for some kernels and takes the others from the cache.
TEST_F(KernelSetTest, ProcessesShareTheWork) {
  constexpr int kKernels = 12;
  std::vector<std::unique_ptr<Child>> children;
  for (int c = 0; c < 4; ++c)
    children.push_back(std::make_unique<Child>([&] {
      KernelSet set(kTarget, std::make_shared<Cache>(folder_.file("c")), "engine");
      for (int i = 1; i <= kKernels; ++i) set.add(scaled_product(i));
      set.prepare(1);
      const KernelStats stats = set.stats();
      folder_.write(fmt::format("compiled-{}", getpid()), std::string(stats.compiled, 'x'));
      return stats.compiled + stats.entry + stats.image == kKernels;
    }));
  for (const auto& child : children) EXPECT_TRUE(child->succeeded());
  uint64_t compiled = 0;
  for (const auto& file : fs::directory_iterator(folder_.path()))
    if (file.path().filename().string().starts_with("compiled-")) compiled += fs::file_size(file);
  EXPECT_EQ(compiled, static_cast<uint64_t>(kKernels));
}

TEST_F(KernelSetTest, KernelsMayBeAddedAfterPreparing) {
  KernelSet set(kTarget, nullptr, "");
  set.add(scaled_product(1));
  set.prepare(1);
  const auto first = set.tile(0);
  set.add(scaled_product(2));
  set.prepare(1);
  EXPECT_EQ(set.tile(0), first);
  expect_scales_by(set.tile(1), 2);
}

TEST_F(KernelSetTest, ADamagedImageIsMadeAgainFromEntries) {
  use(3);
  damage("image-");
  EXPECT_EQ(use(3).entry, 3u);
  EXPECT_EQ(use(3).image, 3u);
}

TEST_F(KernelSetTest, DamagedEntriesAreCompiledAgain) {
  use(3);
  damage("");
  EXPECT_EQ(use(3).compiled, 3u);
  EXPECT_EQ(use(3).image, 3u);
}

TEST_F(KernelSetTest, AnImageThatIsNoneIsRejected) {
  use(3);
  Cache(folder_.file("c")).put(files("image-").at(0), {}, bytes_of("sound, but not a list of kernels"));
  const KernelStats stats = use(3);
  EXPECT_EQ(stats.rejected, 1u);
  EXPECT_EQ(stats.entry, 3u);
  EXPECT_EQ(use(3).image, 3u);
}

TEST_F(KernelSetTest, ThreadsCompileEachKernelOnce) {
  std::vector<std::unique_ptr<KernelSet>> sets;
  for (int i = 0; i < 2; ++i) sets.push_back(std::make_unique<KernelSet>(kTarget, nullptr, ""));
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      KernelSet& set = *sets[static_cast<size_t>(t % 2)];
      for (int i = 1; i <= 5; ++i) {
        const int id = set.add(scaled_product(i));
        set.prepare(2);
        expect_scales_by(set.tile(id), static_cast<float>(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sets[0]->stats().compiled + sets[1]->stats().compiled, 5u);
}

// A file system that others do not see; false where this process may not make one.
bool mount_without_execution(const std::string& folder) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", folder.c_str(), "tmpfs", MS_NOEXEC, nullptr) == 0;
}

TEST_F(KernelSetTest, CodeIsCopiedWhereFilesMayNotBeExecuted) {
  if (!runs_in_child([&] { return mount_without_execution(folder_.path()); }))
    GTEST_SKIP() << "needs the right to mount";
  EXPECT_TRUE(runs_in_child([&] {
    if (!mount_without_execution(folder_.path())) return false;
    const bool compiles = use(2, "first").compiled == 2;
    const bool loads = use(2, "first").image == 2 && use(2, "second").entry == 2;
    return compiles && loads && !HasFailure();
  }));
}

// Run by the test below in a process of its own.
TEST_F(KernelSetTest, DISABLED_InAFreshProcess) {
  KernelSet set(kTarget, std::make_shared<Cache>(getenv("INGOT_TEST_CACHE")), "engine");
  for (int i = 0; i < 60; ++i) set.add(scaled_product(i));
  set.prepare(2);
  expect_scales_by(set.tile(7), 7);
  const bool has_llvm = read_file("/proc/self/maps").find("LLVM") != std::string::npos;
  EXPECT_EQ(has_llvm, kernel::compiler_is_loaded());
  const KernelStats stats = set.stats();
  fprintf(stderr, "compiled %d, image %d, LLVM %d\n", static_cast<int>(stats.compiled),
          static_cast<int>(stats.image), has_llvm);
  fprintf(stderr, "load %.3f ms, compile %.3f ms\n", stats.load_seconds * 1e3, stats.compile_seconds * 1e3);
}

TEST_F(KernelSetTest, AWarmStartMapsNoLlvm) {
  const auto start = [&] {
    return run_program(
        {"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=*InAFreshProcess"},
        [&] { setenv("INGOT_TEST_CACHE", folder_.file("c").c_str(), 1); });
  };
  const ProgramResult cold = start();
  EXPECT_EQ(cold.exit_code, 0) << cold.out;
  EXPECT_TRUE(cold.err.starts_with("compiled 60, image 0, LLVM 1\n")) << cold.err;
  const ProgramResult warm = start();
  EXPECT_EQ(warm.exit_code, 0) << warm.out;
  EXPECT_TRUE(warm.err.starts_with("compiled 0, image 60, LLVM 0\n")) << warm.err;
  RecordProperty("cold", cold.err);
  RecordProperty("warm", warm.err);
}

}  // namespace
}  // namespace ingot::cpu
