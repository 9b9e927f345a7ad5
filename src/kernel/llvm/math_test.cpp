// The error of every f32 function, in units in the last place, over samples of all floats, at every level.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "support/compiled_nest.h"
#include "support/nest_builder.h"

namespace ingot::kernel {
namespace {

using Exact = double;

struct Function {
  const char* name;
  Op op;
  Exact (*exact)(Exact);
  double ulp;
  double alpha = 0;
  int64_t form = 0;
  double smallest = 0;
};

constexpr double kTiny = 0x1p-117;  // functions that scale x down lose bits of what is smaller

Exact logistic(Exact x) { return 1 / (1 + std::exp(-x)); }
Exact softplus_of(Exact x) { return std::max(x, Exact{0}) + std::log1p(std::exp(-std::fabs(x))); }

const Function kFunctions[] = {
    {"exp", Op::Exp, [](Exact x) { return std::exp(x); }, 1.5},
    {"log", Op::Log, [](Exact x) { return std::log(x); }, 1.5},
    {"tanh", Op::Tanh, [](Exact x) { return std::tanh(x); }, 5},
    {"erf", Op::Erf, [](Exact x) { return std::erf(x); }, 5},
    {"sin", Op::Sin, [](Exact x) { return std::sin(x); }, 3},
    {"cos", Op::Cos, [](Exact x) { return std::cos(x); }, 3},
    {"tan", Op::Tan, [](Exact x) { return std::tan(x); }, 5},
    {"asin", Op::Asin, [](Exact x) { return std::asin(x); }, 3},
    {"acos", Op::Acos, [](Exact x) { return std::acos(x); }, 3},
    {"atan", Op::Atan, [](Exact x) { return std::atan(x); }, 3},
    {"sinh", Op::Sinh, [](Exact x) { return std::sinh(x); }, 4},
    {"cosh", Op::Cosh, [](Exact x) { return std::cosh(x); }, 3},
    {"asinh", Op::Asinh, [](Exact x) { return std::asinh(x); }, 4},
    {"acosh", Op::Acosh, [](Exact x) { return std::acosh(x); }, 4},
    {"atanh", Op::Atanh, [](Exact x) { return std::atanh(x); }, 4},
    {"sigmoid", Op::Sigmoid, logistic, 3},
    {"softplus", Op::Softplus, softplus_of, 4},
    {"gelu", Op::Gelu, [](Exact x) { return x / 2 * std::erfc(-x / std::sqrt(Exact{2})); }, 6, 0, 0,
     0x1p-101},
    // The argument of the exponential is rounded, which counts for |x| > 5.
    {"gelu, tanh form", Op::Gelu,
     [](Exact x) { return x * logistic(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)); },
     200, 0, 1, kTiny},
    {"swish", Op::Swish, [](Exact x) { return x * logistic(x); }, 4, 1, 0, kTiny},
    {"mish", Op::Mish, [](Exact x) { return x * std::tanh(softplus_of(x)); }, 6, 0, 0, kTiny},
    {"elu", Op::Elu, [](Exact x) { return x < 0 ? std::expm1(x) : x; }, 3, 1},
};

// Every 997th bit pattern and what is special.
const std::vector<float>& samples() {
  static const std::vector<float> all = [] {
    std::vector<float> x;
    for (uint64_t bits = 0; bits <= 0xffffffff; bits += 997)
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (float v : {0.0F, 1.0F, 0.5F, 2.0F, 88.722839F, 88.7228F, 87.3365F, 89.0F, 1e-20F, 3.4028235e38F,
                    INFINITY, NAN})
      x.insert(x.end(), {v, -v, std::nextafter(v, 0.0F), std::nextafter(v, INFINITY)});
    return x;
  }();
  return all;
}

// Distance in units of the last place of a float near the exact value, or `smallest` if that is larger;
// denormal results may be flushed.
double error_in_ulp(float got, Exact exact, double smallest = 0) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) {
    const bool is_near = std::fabs(exact) > 0x1.fffffcp127 && std::fabs(got) > 0x1.fffff0p127F;
    return got == rounded || (is_near && std::signbit(got) == std::signbit(rounded)) ? 0 : INFINITY;
  }
  constexpr Exact kSmallest = std::numeric_limits<float>::min();
  if (std::fabs(exact) < kSmallest) return std::fabs(got) <= kSmallest ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(std::max(std::fabs(exact), smallest), &exponent);
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(Exact{1}, exponent - 24));
}

std::vector<float> run(const LoopNest& nest, IsaLevel level, const std::vector<std::vector<float>>& in) {
  std::vector<float> out(in[0].size());
  std::vector<std::byte*> memory;
  for (const auto& x : in) memory.push_back(const_cast<std::byte*>(std::as_bytes(std::span(x)).data()));
  memory.push_back(std::as_writable_bytes(std::span(out)).data());
  CompiledNest(nest, level)({.memory = memory.data(), .begin = 0, .end = static_cast<int64_t>(out.size())});
  return out;
}

LoopNest nest_of(const Function& f) {
  NestBuilder n({1}, {});
  const auto y = n.op(f.op, {n.load(DType::f32, {1})});
  n.nest.exprs.back().real = f.alpha;
  n.nest.exprs.back().integer = f.form;
  n.store(DType::f32, {1}, y);
  return n.nest;
}

// The levels whose code differs here.
std::vector<IsaLevel> levels() {
  std::vector<IsaLevel> result = runnable_levels();
  std::erase_if(result, [](IsaLevel level) { return level > IsaLevel::avx512; });
  return result;
}

void expect_accurate(const Function& f, const std::vector<Exact>& exact, IsaLevel level) {
  const std::vector<float>& x = samples();
  const auto y = run(nest_of(f), level, {x});
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = error_in_ulp(y[i], exact[i], f.smallest);
    if (error > worst) worst = error, where = i;
  }
  testing::Test::RecordProperty(f.name + std::string(", ") + std::string(to_string(level)),
                                std::to_string(worst));
  EXPECT_LE(worst, f.ulp) << f.name << "(" << x[where] << ") = " << y[where] << ", exactly " << exact[where]
                          << ", " << to_string(level);
}

TEST(VectorMath, FunctionsAreWithinTheirErrors) {
  for (const Function& f : kFunctions) {
    std::vector<Exact> exact;
    for (float x : samples()) exact.push_back(std::isnan(x) ? NAN : f.exact(x));
    for (IsaLevel level : levels()) expect_accurate(f, exact, level);
  }
}

TEST(VectorMath, PowerIsWithinItsErrorAndKeepsTheRulesOfC) {
  std::vector<float> x, y;
  const float special[] = {0,          -0.0F,    1,         -1,    2,          -2,        0.5F,   -0.5F,
                           3,          -3,       1.5F,      -1.5F, 1e30F,      -1e30F,    1e-30F, 16777216.F,
                           16777218.F, INFINITY, -INFINITY, NAN,   0.9999999F, 1.0000001F};
  for (float a : special)
    for (float b : special) x.push_back(a), y.push_back(b);
  for (uint32_t i = 0; i < 400000; ++i) {
    x.push_back(std::bit_cast<float>((i * 2654435761U) & 0x7fffffff));
    y.push_back(std::ldexp(static_cast<float>(i * 40503U % 65536) / 32768.0F - 1, static_cast<int>(i % 12)));
  }
  NestBuilder n({1}, {});
  const auto a = n.load(DType::f32, {1}), b = n.load(DType::f32, {1});
  n.store(DType::f32, {1}, n.op(Op::Pow, {a, b}));
  for (IsaLevel level : levels()) {
    const auto out = run(n.nest, level, {x, y});
    for (size_t i = 0; i < x.size(); ++i) {
      const Exact exact = std::pow(Exact{x[i]}, Exact{y[i]});
      ASSERT_LE(error_in_ulp(out[i], exact), 2.5)
          << x[i] << " ^ " << y[i] << " = " << out[i] << ", exactly " << exact;
    }
  }
}

}  // namespace
}  // namespace ingot::kernel
