#include "kernel/llvm/compile.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/nest_builder.h"

namespace ingot::kernel {
namespace {

constexpr IsaLevel kLevels[] = {IsaLevel::avx2, IsaLevel::avx512, IsaLevel::avx512_vnni,
                                IsaLevel::avx512_bf16, IsaLevel::amx};

KernelSource byte_product(DType a = DType::u8, int32_t rows = 2) {
  NestBuilder epilogue({1, 1}, {});
  const auto sum = epilogue.add({.kind = ExprKind::accumulator, .dtype = DType::i32, .args = {}});
  epilogue.store(DType::i32, {1, 1}, sum);
  return TileKernel{.a = a, .b = DType::i8, .rows = rows, .vectors = 2, .epilogue = epilogue.nest};
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

// Rows too few to share what is loaded of b stay in vectors.
TEST(Compile, MultipliesBytesInTileRegisters) {
  const std::string few = llvm_compiler().list(byte_product(), {IsaLevel::amx}).assembly;
  const std::string many = llvm_compiler().list(byte_product(DType::u8, 16), {IsaLevel::amx}).assembly;
  const std::string of_signed = llvm_compiler().list(byte_product(DType::i8), {IsaLevel::amx}).assembly;
  for (const auto* name : {"ldtilecfg", "tilezero", "tileloadd", "tilestored", "tilerelease"}) {
    EXPECT_TRUE(has(many, name) && has(of_signed, name)) << name;
    EXPECT_FALSE(has(few, name)) << name;
  }
  EXPECT_TRUE(has(many, "tdpbusd") && !has(many, "tdpbssd"));
  EXPECT_TRUE(has(of_signed, "tdpbssd") && !has(of_signed, "tdpbusd"));
}

TEST(Compile, EmulatesTileRegistersWithoutTheirInstructions) {
  const std::string code = llvm_compiler().list(byte_product(DType::u8, 16), {IsaLevel::amx, true}).assembly;
  for (const auto* name : {"tilecfg", "tilezero", "tileload", "tilestore", "tilerelease", "tdpb", "tmm"})
    EXPECT_FALSE(has(code, name)) << name;
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
