// Every pointwise op on every type that kernels compute in does what the interpreter does, special values
// included.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/numeric.h"
#include "kernel/can_emit.h"
#include "kernel/interpret.h"
#include "support/compiled_nest.h"
#include "support/nest_builder.h"

namespace ingot::kernel {
namespace {

constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                            DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                            DType::u16, DType::u8,  DType::boolean};
constexpr int64_t kCount = 533;

using Bytes = std::vector<std::byte>;

Bytes reals(DType dtype, std::mt19937& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<double> x = {0,
                           -0.0,
                           1,
                           -1,
                           0.5,
                           -0.5,
                           1.5,
                           2.5,
                           -2.5,
                           127.5,
                           200,
                           -200,
                           300.7,
                           4e4,
                           -4e4,
                           3e9,
                           4e9,
                           -3e9,
                           1e18,
                           -1e18,
                           1e19,
                           -1e19,
                           2e19,
                           kInf,
                           -kInf,
                           0.3333,
                           -0.875,
                           1e-3,
                           88,
                           -88,
                           2,
                           3,
                           2147483648.0,
                           -2147483649.0,
                           65535.5,
                           std::numeric_limits<double>::quiet_NaN()};
  std::uniform_real_distribution<double> spread(-6, 6);
  while (x.size() < kCount) x.push_back(spread(random));
  std::ranges::shuffle(x, random);
  Bytes bytes(byte_size(dtype, kCount));
  encode_from_f64(dtype, x.data(), kCount, bytes.data());
  return bytes;
}

Bytes integers(DType dtype, std::mt19937& random) {
  std::mt19937_64 wide(random());
  std::vector<int64_t> x = {0,
                            1,
                            -1,
                            2,
                            -2,
                            3,
                            7,
                            8,
                            63,
                            64,
                            127,
                            -128,
                            255,
                            32767,
                            -32768,
                            2147483647,
                            -2147483648LL,
                            std::numeric_limits<int64_t>::min(),
                            std::numeric_limits<int64_t>::max()};
  while (x.size() < kCount) x.push_back(static_cast<int64_t>(wide()) >> (wide() % 64));
  std::ranges::shuffle(x, random);
  Bytes bytes(byte_size(dtype, kCount));
  encode_from_i64(dtype, x.data(), kCount, bytes.data());
  return bytes;
}

Bytes elements(DType dtype, std::mt19937& random) {
  return is_floating(dtype) ? reals(dtype, random) : integers(dtype, random);
}

std::string text(DType dtype, const std::byte* at) {
  if (is_floating(dtype)) {
    double value = 0;
    decode_to_f64(dtype, at, 1, &value);
    return fmt::format("{}", value);
  }
  int64_t value = 0;
  decode_to_i64(dtype, at, 1, &value);
  return fmt::format("{}", value);
}

// Integers agree exactly; so do floats but for the last bits of functions.
bool agree(DType dtype, const std::byte* a, const std::byte* b) {
  const auto width = static_cast<size_t>(bit_width(dtype) / 8);
  if (std::equal(a, a + width, b)) return true;
  if (!is_floating(dtype)) return false;
  double x = 0, y = 0;
  decode_to_f64(dtype, a, 1, &x);
  decode_to_f64(dtype, b, 1, &y);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  const double unit = dtype == DType::bf16 ? 0x1p-7 : dtype == DType::f16 ? 0x1p-10 : 2e-6;
  return x == y || std::fabs(x - y) <= unit * std::max(std::fabs(y), 1e-37);
}

// A nest of one op, whose operands are loaded and whose result is stored.
LoopNest nest_of(Op op, const std::vector<DType>& operands, DType result, Expr attributes) {
  NestBuilder n({kCount}, {});
  std::vector<int32_t> args;
  for (DType dtype : operands) args.push_back(n.load(dtype, {1}));
  const auto y = n.op(op, args, arithmetic_type(result));
  Expr& e = n.nest.exprs.back();
  e.real = attributes.real, e.real2 = attributes.real2, e.integer = attributes.integer;
  n.store(result, {1}, y);
  return n.nest;
}

void expect_as_interpreted(const LoopNest& nest) {
  std::mt19937 random(static_cast<uint32_t>(nest.exprs.back().op));
  std::vector<Bytes> buffers;
  for (const Access& access : nest.accesses) buffers.push_back(elements(access.dtype, random));
  std::vector<std::byte*> memory;
  for (Bytes& b : buffers) memory.push_back(b.data());
  const KernelCall call{.memory = memory.data(), .begin = 0, .end = kCount};
  interpret(nest, call);
  const Bytes expected = buffers.back();
  const DType dtype = nest.accesses.back().dtype;
  for (IsaLevel level : runnable_levels()) {
    if (level > IsaLevel::avx512) break;  // no other code beyond
    std::ranges::fill(buffers.back(), std::byte{0x55});
    CompiledNest(nest, level)(call);
    for (size_t i = 0; i < static_cast<size_t>(kCount); ++i) {
      const size_t at = i * static_cast<size_t>(bit_width(dtype) / 8);
      if (agree(dtype, buffers.back().data() + at, expected.data() + at)) continue;
      std::string operands;
      for (size_t a = 0; a + 1 < buffers.size(); ++a)
        operands +=
            " " + text(nest.accesses[a].dtype,
                       buffers[a].data() + i * static_cast<size_t>(bit_width(nest.accesses[a].dtype) / 8));
      ADD_FAILURE() << to_string(level) << ", of" << operands << ": "
                    << text(dtype, buffers.back().data() + at) << " instead of "
                    << text(dtype, expected.data() + at) << "\n"
                    << to_string(nest);
      break;
    }
  }
}

bool is_predicate(Op op) {
  return op == Op::Equal || op == Op::Less || op == Op::LessOrEqual || op == Op::IsNan || op == Op::IsInf;
}

// Attributes that matter, where an op has any.
std::vector<Expr> attributes_of(Op op) {
  auto numbers = [](double real, double real2, int64_t integer) {
    Expr e;
    e.real = real, e.real2 = real2, e.integer = integer;
    return e;
  };
  switch (op) {
    case Op::Elu: return {numbers(1, 0, 0), numbers(0.5, 0, 0)};
    case Op::LeakyRelu: return {numbers(0.01, 0, 0), numbers(-2, 0, 0)};
    case Op::HardSigmoid: return {numbers(0.2, 0.5, 0)};
    case Op::Swish: return {numbers(1, 0, 0), numbers(1.702, 0, 0)};
    case Op::Gelu:
    case Op::Mod: return {numbers(0, 0, 0), numbers(0, 0, 1)};
    case Op::IsInf: return {numbers(0, 0, 0), numbers(0, 0, 1), numbers(0, 0, 2), numbers(0, 0, 3)};
    default: return {{}};
  }
}

std::vector<DType> operands_of(const OpInfo& info, DType dtype) {
  std::vector<DType> operands(info.operands.size(), dtype);
  if (info.op == Op::Select) operands[0] = DType::boolean;
  return operands;
}

TEST(EmitOp, EveryOpOnEveryTypeDoesWhatTheInterpreterDoes) {
  for (const OpInfo& info : all_ops()) {
    if (!info.is(Pointwise) || info.op == Op::Cast || info.op == Op::BitCast) continue;
    for (DType dtype : kTypes) {
      const DType result = is_predicate(info.op) ? DType::boolean : dtype;
      if ((info.operands.back().types & bit(dtype)) == 0 || !can_emit(info.op, dtype, result)) continue;
      for (const Expr& attributes : attributes_of(info.op))
        expect_as_interpreted(nest_of(info.op, operands_of(info, dtype), result, attributes));
    }
  }
}

TEST(EmitOp, EveryCastDoesWhatTheInterpreterDoes) {
  for (DType from : kTypes)
    for (DType to : kTypes) {
      if (can_emit(Op::Cast, from, to)) expect_as_interpreted(nest_of(Op::Cast, {from}, to, {}));
      if (can_emit(Op::BitCast, from, to)) expect_as_interpreted(nest_of(Op::BitCast, {from}, to, {}));
    }
}

TEST(EmitOp, ACastOfClampedNumbersStillTakesNanToZero) {
  for (DType to : {DType::u8, DType::i8, DType::i32}) {
    NestBuilder n({kCount}, {});
    const auto x = n.op(Op::Round, {n.load(DType::f32, {1})});
    const auto clamped = n.op(Op::Clamp, {x, n.real(-128), n.real(127)}, DType::f32);
    n.store(to, {1}, n.op(Op::Cast, {clamped}, to));
    expect_as_interpreted(n.nest);
  }
}

TEST(EmitOp, PowersWithConstantExponents) {
  for (double exponent : {1.0, 2.0, 3.0, -1.0, 0.5, 0.0, -0.5, 2.5}) {
    NestBuilder n({kCount}, {});
    const auto x = n.load(DType::f32, {1});
    n.store(DType::f32, {1}, n.op(Op::Pow, {x, n.real(exponent)}));
    expect_as_interpreted(n.nest);
  }
}

TEST(EmitOp, AnFmaDoesWhatTheInterpreterDoes) {
  NestBuilder n({kCount}, {});
  const auto x = n.load(DType::f32, {1}), y = n.load(DType::f32, {1});
  n.store(DType::f32, {1}, n.fma(x, y, n.op(Op::Mul, {x, n.real(0x1p-23)}, DType::f32)));
  expect_as_interpreted(n.nest);
}

TEST(EmitOp, WhatKernelsCannotCompute) {
  EXPECT_FALSE(can_emit(Op::Exp, DType::f64, DType::f64));
  EXPECT_FALSE(can_emit(Op::Mod, DType::f32, DType::f32));
  EXPECT_FALSE(can_emit(Op::Pow, DType::i32, DType::i32));
  EXPECT_FALSE(can_emit(Op::Cast, DType::f64, DType::bf16)) << "it would be rounded twice";
  EXPECT_FALSE(can_emit(Op::Cast, DType::f32, DType::f8e4m3fn));
  EXPECT_FALSE(can_emit(Op::Add, DType::i4, DType::i4));
  EXPECT_FALSE(can_emit(Op::MatMul, DType::f32, DType::f32));
}

}  // namespace
}  // namespace ingot::kernel
