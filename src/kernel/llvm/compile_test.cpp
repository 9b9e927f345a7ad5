#include "kernel/llvm/compile.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/nest_builder.h"

namespace ingot::kernel {
namespace {

constexpr IsaLevel kLevels[] = {IsaLevel::avx2, IsaLevel::avx512, IsaLevel::avx512_vnni,
                                IsaLevel::avx512_bf16, IsaLevel::amx};

KernelSource byte_product() {
  NestBuilder epilogue({1, 1}, {});
  const auto sum = epilogue.add({.kind = ExprKind::accumulator, .dtype = DType::i32, .args = {}});
  epilogue.store(DType::i32, {1, 1}, sum);
  return TileKernel{.a = DType::u8, .b = DType::i8, .rows = 2, .vectors = 2, .epilogue = epilogue.nest};
}

KernelSource half_precision_sum() {
  NestBuilder nest({40}, {});
  const auto sum = nest.op(Op::Add, {nest.load(DType::bf16, {1}), nest.load(DType::f16, {1})});
  nest.store(DType::bf16, {1}, nest.op(Op::Exp, {sum}));
  return nest.nest;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Also those that this processor lacks.
TEST(Compile, EveryLevelGivesCode) {
  for (const IsaLevel level : kLevels)
    for (const KernelSource& source : {byte_product(), half_precision_sum()})
      EXPECT_GT(llvm_compiler().compile(source, {level}).size(), 100u) << to_string(level);
}

TEST(Compile, UsesWhatTheLevelHasAndNothingElse) {
  for (const IsaLevel level : kLevels) {
    const std::string product = llvm_compiler().list(byte_product(), {level}).assembly;
    const std::string sum = llvm_compiler().list(half_precision_sum(), {level}).assembly;
    EXPECT_EQ(has(product, "vpdpbusd"), level >= IsaLevel::avx512_vnni) << to_string(level);
    EXPECT_EQ(has(product, "zmm"), level >= IsaLevel::avx512) << to_string(level);
    EXPECT_EQ(has(sum, "zmm"), level >= IsaLevel::avx512) << to_string(level);
    EXPECT_TRUE(has(product + sum, "ymm") || level >= IsaLevel::avx512) << to_string(level);
  }
}

TEST(Compile, ListsTheFormsOfAKernel) {
  const Listing listing = llvm_compiler().list(half_precision_sum(), {IsaLevel::avx2});
  EXPECT_TRUE(has(listing.llvm_ir, "define void @entry(ptr")) << listing.llvm_ir;
  EXPECT_TRUE(has(listing.assembly, "entry:")) << listing.assembly;
}

TEST(Compile, ThreadsGetTheSameCode) {
  const Code expected = llvm_compiler().compile(byte_product(), {IsaLevel::avx512});
  std::vector<Code> codes(4);
  std::vector<std::thread> threads;
  for (Code& code : codes)
    threads.emplace_back([&] { code = llvm_compiler().compile(byte_product(), {IsaLevel::avx512}); });
  for (std::thread& thread : threads) thread.join();
  for (const Code& code : codes) EXPECT_EQ(code, expected);
}

}  // namespace
}  // namespace ingot::kernel
