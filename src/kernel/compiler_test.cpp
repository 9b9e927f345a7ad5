#include "kernel/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "ingot/error.h"
#include "kernel/source_hash.h"
#include "support/child.h"
#include "support/nest_builder.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot::kernel {
namespace {

// In a process of its own: the first call decides.
bool fails_with(const std::string& library, ErrorCode code, std::string_view part) {
  return runs_in_child([&] {
    setenv("INGOT_JIT_LIBRARY", library.c_str(), 1);
    const Error error = thrown_by([] { compiler(); });
    const bool good =
        error.code() == code && std::string_view(error.what()).find(part) != std::string_view::npos;
    if (!good) fprintf(stderr, "%s\n", error.what());
    return good && !compiler_is_loaded();
  });
}

TEST(Compiler, AMissingLibraryIsNamed) {
  EXPECT_TRUE(fails_with("/nowhere/lib.so", ErrorCode::not_found, "/nowhere/lib.so"));
}

TEST(Compiler, AFileThatIsNoLibraryIsNamed) {
  TempFolder folder;
  EXPECT_TRUE(fails_with(folder.write("a.so", "text"), ErrorCode::not_found, "a.so"));
}

TEST(Compiler, AnotherLibraryIsRefused) {
  EXPECT_TRUE(fails_with("libm.so.6", ErrorCode::incompatible, "another library"));
}

TEST(Compiler, IsFoundBesideOrOnTheLibraryPathAndOpenedOnce) {
  const Compiler& first = compiler();
  EXPECT_EQ(&compiler(), &first);
  EXPECT_TRUE(compiler_is_loaded());
}

LoopNest copy_of(int64_t extent, DType dtype = DType::f32) {
  NestBuilder nest({extent}, {});
  nest.store(DType::f32, {1}, nest.load(dtype, {1}));
  return nest.nest;
}

// One source for each member of a kernel, with another value there.
std::vector<KernelSource> sources_that_differ() {
  std::vector<KernelSource> sources = {copy_of(4), TileKernel{.epilogue = copy_of(4)}};
  const auto add_nest = [&](auto&& change) {
    LoopNest nest = copy_of(4);
    change(nest);
    sources.emplace_back(nest);
    sources.emplace_back(TileKernel{.epilogue = std::move(nest)});
  };
  const auto add_tile = [&](auto&& change) {
    TileKernel tile{.epilogue = copy_of(4)};
    change(tile);
    sources.emplace_back(std::move(tile));
  };
  add_nest([](LoopNest& n) { n.axes[0].extent = Size::of(5); });
  add_nest([](LoopNest& n) { n.axes[0].extent.param = 4; });
  add_nest([](LoopNest& n) { n.axes[0].reduced = true; });
  add_nest([](LoopNest& n) { n.axes.push_back({}); });
  add_nest([](LoopNest& n) { n.accesses[0].dtype = DType::i8; });
  add_nest([](LoopNest& n) { n.accesses[0].strides[0] = Size::of(7); });
  add_nest([](LoopNest& n) { n.exprs[0].kind = ExprKind::index; });
  add_nest([](LoopNest& n) { n.exprs[0].op = Op::Add; });
  add_nest([](LoopNest& n) { n.exprs[0].dtype = DType::i8; });
  add_nest([](LoopNest& n) { n.exprs[0].args = {0}; });
  add_nest([](LoopNest& n) { n.exprs[0].source = 9; });
  add_nest([](LoopNest& n) { n.exprs[0].real = 1; });
  add_nest([](LoopNest& n) { n.exprs[0].real = -0.0; });
  add_nest([](LoopNest& n) { n.exprs[0].real2 = 1; });
  add_nest([](LoopNest& n) { n.exprs[0].integer = 1; });
  add_nest([](LoopNest& n) { n.stores[0].access = 7; });
  add_nest([](LoopNest& n) { n.stores[0].expr = 7; });
  add_nest([](LoopNest& n) { n.vector_axis = 7; });
  add_tile([](TileKernel& t) { t.kind = TileKind::max; });
  add_tile([](TileKernel& t) { t.a = DType::u8; });
  add_tile([](TileKernel& t) { t.b = DType::u8; });
  add_tile([](TileKernel& t) { t.rows = 2; });
  add_tile([](TileKernel& t) { t.vectors = 2; });
  add_tile([](TileKernel& t) { t.packed = false; });
  add_tile([](TileKernel& t) { t.window.taps = 2; });
  add_tile([](TileKernel& t) { t.window.step = 2; });
  add_tile([](TileKernel& t) { t.window.dilation = 2; });
  return sources;
}

TEST(HashOfSource, DependsOnEveryMemberAndNothingElse) {
  const std::vector<KernelSource> sources = sources_that_differ(), same = sources_that_differ();
  std::set<uint64_t> hashes;
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(hash_of(sources[i]), hash_of(same[i]));
    EXPECT_TRUE(sources[i] == same[i]);
    EXPECT_TRUE(hashes.insert(hash_of(sources[i])).second) << to_string(sources[i]);
  }
}

TEST(KernelKey, DependsOnTextAndLevel) {
  const std::string key = kernel_key(copy_of(4), {IsaLevel::avx2});
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(kernel_key(copy_of(4), {IsaLevel::avx2}), key);
  EXPECT_NE(kernel_key(copy_of(5), {IsaLevel::avx2}), key);
  EXPECT_NE(kernel_key(copy_of(4), {IsaLevel::avx512}), key);
}

TEST(LeastTarget, OnlyIntegerProductsAndBf16NeedMoreThanAvx512) {
  const auto least = [](const KernelSource& source, IsaLevel level) {
    return least_target(source, {level}).level;
  };
  EXPECT_EQ(least(copy_of(4), IsaLevel::avx2), IsaLevel::avx2);
  EXPECT_EQ(least(copy_of(4), IsaLevel::avx512_bf16), IsaLevel::avx512);
  EXPECT_EQ(least(copy_of(4, DType::bf16), IsaLevel::avx512_bf16), IsaLevel::avx512_bf16);
  TileKernel tile{.epilogue = copy_of(4)};
  EXPECT_EQ(least(tile, IsaLevel::avx512_vnni), IsaLevel::avx512);
  tile.a = DType::u8;
  EXPECT_EQ(least(tile, IsaLevel::avx512_vnni), IsaLevel::avx512_vnni);
}

TEST(IsaLevel, NamesParse) {
  for (const IsaLevel level :
       {IsaLevel::avx2, IsaLevel::avx512, IsaLevel::avx512_vnni, IsaLevel::avx512_bf16, IsaLevel::amx})
    EXPECT_EQ(parse_isa_level(to_string(level)), level);
  EXPECT_FALSE(parse_isa_level("sse2"));
}

// The compiler's runtime asks the processor in its own way.
TEST(IsaLevel, DetectionAgreesWithTheCompiler) {
  const bool avx2 = __builtin_cpu_supports("x86-64-v3");
  const bool avx512 = __builtin_cpu_supports("x86-64-v4");
  const auto level = detect_isa_level();
  EXPECT_EQ(level.has_value(), avx2);
  if (!level) return;
  EXPECT_EQ(*level >= IsaLevel::avx512, avx512);
  EXPECT_EQ(*level >= IsaLevel::avx512_vnni, avx512 && __builtin_cpu_supports("avx512vnni"));
  EXPECT_EQ(*level >= IsaLevel::avx512_bf16,
            avx512 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16"));
}

}  // namespace
}  // namespace ingot::kernel
