#include "kernel/llvm/flat_code.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include "ingot/error.h"
#include "kernel/executable_memory.h"
#include "kernel/llvm/codegen.h"
#include "support/thrown_by.h"

namespace ingot::kernel {
namespace {

std::vector<std::byte> object_of(const char* ir) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto machine = make_machine(IsaLevel::avx2);
  const auto module = llvm::parseAssemblyString(ir, problem, context);
  if (!module) throw std::invalid_argument(problem.getMessage().str());
  set_machine(*module, *machine);
  const auto object = generate(*module, *machine, IsaLevel::avx2, llvm::CodeGenFileType::ObjectFile);
  const auto bytes = std::as_bytes(std::span(object.data(), object.size()));
  return {bytes.begin(), bytes.end()};
}

Code flat(const char* ir) { return link_flat(object_of(ir), "entry"); }

// A call to a function defined before it, a jump table and constants of two sizes.
constexpr char kProgram[] = R"(
  @table = internal constant [4 x double] [double 2.0, double 3.0, double 5.0, double 7.0]
  define internal double @pick(i64 %i) noinline {
    %p = getelementptr double, ptr @table, i64 %i
    %v = load double, ptr %p
    ret double %v
  }
  define double @entry(i64 %i) {
    switch i64 %i, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e ]
  a:
    ret double 0.5
  b:
    %vb = call double @pick(i64 0)
    ret double %vb
  c:
    %vc = call double @pick(i64 3)
    ret double %vc
  d:
    ret double 11.0
  e:
    %ve = fadd <4 x double> <double 1.25, double 2.25, double 3.25, double 4.25>, zeroinitializer
    %s = call double @llvm.vector.reduce.fadd.v4f64(double 0.0, <4 x double> %ve)
    ret double %s
  other:
    ret double -1.0
  }
  declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
)";

void expect_program(const ExecutableMemory& memory, size_t offset) {
  const auto entry = memory.function<double (*)(int64_t)>(offset);
  EXPECT_EQ(entry(0), 0.5);
  EXPECT_EQ(entry(1), 2.0);
  EXPECT_EQ(entry(2), 7.0);
  EXPECT_EQ(entry(3), 11.0);
  EXPECT_EQ(entry(4), 11.0);
  EXPECT_EQ(entry(9), -1.0);
}

TEST(FlatCode, RunsAtAnyMultipleOf64) {
  const Code code = flat(kProgram);
  for (const size_t offset : {0, 64, 4096 + 192}) {
    Code shifted(offset, std::byte{0xcc});
    shifted.insert(shifted.end(), code.begin(), code.end());
    expect_program(*ExecutableMemory::copy(shifted), offset);
  }
}

TEST(FlatCode, IsTheSameEveryTime) { EXPECT_EQ(flat(kProgram), flat(kProgram)); }

void expect_refused(const char* ir, std::string_view observed) {
  const Error error = thrown_by([&] { flat(ir); });
  EXPECT_EQ(error.code(), ErrorCode::internal);
  EXPECT_NE(std::string_view(error.what()).find(observed), std::string_view::npos) << error.what();
}

TEST(FlatCode, RefusesUndefinedSymbols) {
  expect_refused("declare void @elsewhere()\n define void @entry() { call void @elsewhere() ret void }",
                 "'elsewhere'");
  expect_refused(
      "define double @entry(double %x) { %y = call double @llvm.sin.f64(double %x) ret double %y }\n"
      "declare double @llvm.sin.f64(double)",
      "'sin'");
}

TEST(FlatCode, RefusesAddressesInData) {
  expect_refused(
      "@table = internal constant [2 x ptr] [ptr @entry, ptr @table]\n"
      "define ptr @entry(i64 %i) { %p = getelementptr ptr, ptr @table, i64 %i %v = load ptr, ptr %p ret ptr "
      "%v }",
      ".data.rel.ro");
}

TEST(FlatCode, RefusesWritableData) {
  expect_refused(
      "@count = internal global i64 1\n define void @entry() { store volatile i64 2, ptr @count ret void }",
      "'.data'");
  expect_refused(
      "@count = internal global i64 0\n define void @entry() { store volatile i64 2, ptr @count ret void }",
      "'.bss'");
}

TEST(FlatCode, RefusesMissingEntry) { expect_refused("define void @start() { ret void }", "none"); }

TEST(FlatCode, TruncatedObjectsAreErrors) {
  const std::vector<std::byte> object = object_of(kProgram);
  for (size_t size = 0; size < object.size(); ++size) {
    const Error error = thrown_by([&] { link_flat(std::span(object).first(size), "entry"); });
    EXPECT_EQ(error.code(), ErrorCode::internal) << size;
  }
}

// LLVM frees nothing when it fails.
#ifdef __SANITIZE_ADDRESS__
extern "C" void __lsan_disable();
extern "C" void __lsan_enable();
#else
void __lsan_disable() {}
void __lsan_enable() {}
#endif

TEST(Codegen, BrokenIrIsAnError) {
  __lsan_disable();
  // The verifier does not know that no instruction of AVX2 does this.
  expect_refused(
      "define <16 x float> @entry(<16 x float> %x) { %y = call <16 x float> "
      "@llvm.x86.avx512.sqrt.ps.512(<16 x float> %x, i32 8) ret <16 x float> %y }\n"
      "declare <16 x float> @llvm.x86.avx512.sqrt.ps.512(<16 x float>, i32)",
      "split");
  __lsan_enable();
}

}  // namespace
}  // namespace ingot::kernel
