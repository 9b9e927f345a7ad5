// Tile registers, by instructions where the processor has them and in emulation everywhere, against loops
// written from the operation sections of the processor's manual.
#include "kernel/llvm/tile_registers.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>

#include <cstddef>
#include <cstring>
#include <random>

#include "kernel/executable_memory.h"
#include "kernel/llvm/codegen.h"
#include "kernel/llvm/flat_code.h"

namespace ingot::kernel {
namespace {

constexpr int kSum = 0, kA = 3, kB = 7;
constexpr int64_t kStride = 80;  // more than a row has
using Memory = std::array<uint8_t, 16 * kStride>;

struct Call {
  TileConfig config;
  Memory a, b, sum;
  Memory product, copy, cleared;  // what is stored of the sum, of `a`, and of the sum after zero()
};

// configure, load all, dot, store.
Code program(const Target& target, bool a_is_signed) {
  llvm::LLVMContext context;
  const auto machine = make_machine(target.level);
  llvm::Module module("test", context);
  set_machine(module, *machine);
  FunctionEmitter emitter(module, target, "entry");
  const auto member = [&](size_t offset) {
    return emitter.at(emitter.call_argument(), static_cast<int64_t>(offset));
  };
  auto* stride = emitter.i64(kStride);
  const auto registers = make_tile_registers(emitter);
  registers->configure(member(offsetof(Call, config)));
  registers->load(kA, member(offsetof(Call, a)), stride);
  registers->load(kB, member(offsetof(Call, b)), stride);
  registers->load(kSum, member(offsetof(Call, sum)), stride);
  registers->dot(kSum, kA, kB, a_is_signed);
  registers->store(kSum, member(offsetof(Call, product)), stride);
  registers->store(kA, member(offsetof(Call, copy)), stride);
  registers->zero(kSum);
  registers->store(kSum, member(offsetof(Call, cleared)), stride);
  registers->release();
  emitter.finish();
  const auto object = generate(module, *machine, target.level, llvm::CodeGenFileType::ObjectFile);
  return link_flat(std::as_bytes(std::span(object.data(), object.size())), "entry");
}

struct Shape {
  int rows, columns, depth;
};

int32_t dword(const Memory& memory, int64_t row, int64_t column) {
  int32_t value;
  std::memcpy(&value, memory.data() + row * kStride + column * 4, sizeof value);
  return value;
}

// TDPBUSD and TDPBSSD: each dword of the sum adds the products of four bytes, for every four bytes of a row
// of a.
int32_t expected_dword(const Call& call, const Shape& shape, bool a_is_signed, int row, int column) {
  auto sum = static_cast<uint32_t>(dword(call.sum, row, column));
  for (int k = 0; k < shape.depth; ++k) {
    const uint8_t a = call.a[static_cast<size_t>(row * kStride + k)];
    const uint8_t b = call.b[static_cast<size_t>(k / 4 * kStride + column * 4 + k % 4)];
    const int32_t left = a_is_signed ? static_cast<int8_t>(a) : a;
    sum += static_cast<uint32_t>(left * static_cast<int8_t>(b));
  }
  return static_cast<int32_t>(sum);
}

Call random_call(const Shape& shape, unsigned seed) {
  Call call;
  const auto set = [&](size_t tile, int rows, int bytes) {
    call.config.rows[tile] = static_cast<uint8_t>(rows);
    call.config.row_bytes[tile] = static_cast<uint16_t>(bytes);
  };
  set(kSum, shape.rows, shape.columns * 4);
  set(kA, shape.rows, shape.depth);
  set(kB, shape.depth / 4, shape.columns * 4);
  std::mt19937 random(seed);
  for (Memory* memory : {&call.a, &call.b, &call.sum})
    for (uint8_t& byte : *memory) byte = static_cast<uint8_t>(random());
  for (Memory* memory : {&call.product, &call.copy, &call.cleared}) memory->fill(0xa5);
  return call;
}

void expect_results(const Call& before, const Call& after, const Shape& shape, bool a_is_signed) {
  Memory product, copy, cleared;
  for (Memory* memory : {&product, &copy, &cleared}) memory->fill(0xa5);  // nothing else is stored
  for (int row = 0; row < shape.rows; ++row) {
    for (int column = 0; column < shape.columns; ++column) {
      const int32_t sum = expected_dword(before, shape, a_is_signed, row, column);
      std::memcpy(product.data() + row * kStride + column * 4, &sum, sizeof sum);
    }
    std::memcpy(copy.data() + row * kStride, before.a.data() + row * kStride,
                static_cast<size_t>(shape.depth));
    std::memset(cleared.data() + row * kStride, 0, static_cast<size_t>(shape.columns) * 4);
  }
  EXPECT_EQ(after.product, product);
  EXPECT_EQ(after.copy, copy);
  EXPECT_EQ(after.cleared, cleared);
}

bool can_emulate() { return detect_isa_level() >= IsaLevel::avx512_vnni; }

std::vector<Target> targets() {
  std::vector<Target> found;
  if (can_emulate()) found.push_back({IsaLevel::amx, true});
  if (detect_isa_level() >= IsaLevel::amx) found.push_back({IsaLevel::amx});
  return found;
}

TEST(TileRegisters, MultiplyAsTheManualSays) {
  if (targets().empty()) GTEST_SKIP() << "no AVX-512 VNNI";
  for (const Target& target : targets())
    for (const bool a_is_signed : {false, true}) {
      const auto code = ExecutableMemory::copy(program(target, a_is_signed));
      for (const Shape shape :
           {Shape{16, 16, 64}, {1, 1, 4}, {5, 16, 64}, {16, 3, 64}, {16, 16, 20}, {7, 9, 36}})
        for (unsigned seed = 0; seed < 4; ++seed) {
          SCOPED_TRACE(
              fmt::format("{}, {} x {} x {}", to_string(target), shape.rows, shape.columns, shape.depth));
          Call call = random_call(shape, seed);
          const Call before = call;
          code->function<void (*)(Call*)>()(&call);
          expect_results(before, call, shape, a_is_signed);
        }
    }
}

// Sums wrap around: they neither saturate nor lose low bits.
TEST(TileRegisters, SumsWrapAround) {
  for (const Target& target : targets()) {
    const Shape shape{16, 16, 64};
    Call call = random_call(shape, 1);
    call.a.fill(255);
    call.b.fill(127);
    for (size_t i = 0; i < call.sum.size(); ++i) call.sum[i] = i % 4 == 3 ? 0x7f : 0xff;
    const Call before = call;
    ASSERT_LT(expected_dword(before, shape, false, 0, 0), 0);
    ExecutableMemory::copy(program(target, false))->function<void (*)(Call*)>()(&call);
    expect_results(before, call, shape, false);
  }
}

// As the instructions do, so that no test passes with shapes that a processor refuses.
TEST(TileRegistersDeathTest, RefuseShapesThatDoNotMatch) {
  if (!can_emulate()) GTEST_SKIP() << "no AVX-512 VNNI";
  const auto code = ExecutableMemory::copy(program({IsaLevel::amx, true}, false));
  const auto run = [&](auto change) {
    Call call = random_call({16, 16, 64}, 0);
    change(call.config);
    code->function<void (*)(Call*)>()(&call);
  };
  EXPECT_EXIT(run([](TileConfig& c) { c.rows[kA] = 15; }), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(run([](TileConfig& c) { c.rows[kB] = 15; }), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(run([](TileConfig& c) { c.row_bytes[kB] = 60; }), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(run([](TileConfig& c) { c.rows[kSum] = 0; }), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(run([](TileConfig& c) { c.rows[kSum] = 17; }), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(run([](TileConfig& c) { c.palette = 0; }), ::testing::KilledBySignal(SIGILL), "");
}

}  // namespace
}  // namespace ingot::kernel
