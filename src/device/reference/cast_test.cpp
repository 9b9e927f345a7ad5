#include <gtest/gtest.h>

#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ir/op_info.h"
#include "support/thrown_by.h"

namespace ingot::reference {
namespace {

Tensor cast(const Tensor& x, DType to) {
  GraphBuilder g;
  g.output("y", g.cast(g.input("x", Type::of(x)), {.to = to}));
  std::vector<Datum> inputs = {x};
  return evaluate(std::move(g).finish(), inputs)[0].tensor();
}

std::vector<std::string> texts(const Tensor& t) { return {t.strings().begin(), t.strings().end()}; }

TEST(Cast, NumbersBecomeTheShortestTextThatReadsBack) {
  auto floats = Tensor::of<float>({6}, {314.15926f, 1, 0.1f, INFINITY, -INFINITY, NAN});
  EXPECT_EQ(texts(cast(floats, DType::string)),
            (std::vector<std::string>{"314.15927", "1", "0.1", "INF", "-INF", "NaN"}));
  EXPECT_EQ(texts(cast(Tensor::of<double>({1}, {314.15926}), DType::string))[0], "314.15926");
  EXPECT_EQ(texts(cast(Tensor::of<uint64_t>({1}, {UINT64_MAX}), DType::string))[0], "18446744073709551615");
  Tensor flag = Tensor::allocate(DType::boolean, {1});
  EXPECT_EQ(texts(cast(flag, DType::string))[0], "0");
}

TEST(Cast, TextBecomesNumbers) {
  auto words = Tensor::of_strings({6}, {"3.14", "1e-5", "1E8", "+INF", "-inf", "nan"});
  auto got = load<double>(cast(words, DType::f64));
  EXPECT_EQ((std::vector(got.begin(), got.end() - 1)),
            (std::vector<double>{3.14, 1e-5, 1e8, INFINITY, -INFINITY}));
  EXPECT_TRUE(std::isnan(got.back()));
  auto whole = cast(Tensor::of_strings({2}, {"100.5", "-9223372036854775808"}), DType::i64);
  EXPECT_EQ(whole.data<int64_t>()[0], 100);
  EXPECT_EQ(whole.data<int64_t>()[1], INT64_MIN);
}

TEST(Cast, TextThatIsNoNumberIsRefusedByName) {
  for (const char* text : {"Hello", "", "1,5", "+-3", "3 apples"}) {
    Error e = thrown_by([&] { cast(Tensor::of_strings({1}, {text}), DType::f32); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("'" + std::string(text) + "'"), std::string::npos) << e.what();
  }
}

TEST(Cast, EveryPairOfNumberTypesKeepsSmallWholeNumbers) {
  for (int from = 0; from < 64; ++from) {
    for (int to = 0; to < 64; ++to) {
      auto a = static_cast<DType>(from), b = static_cast<DType>(to);
      if ((types::Any & bit(a)) == 0 || (types::Any & bit(b)) == 0) continue;
      Tensor one = cast(Tensor::of<float>({3}, {1, 1, 1}), a);
      EXPECT_EQ(load<double>(cast(cast(one, b), DType::f64)), (std::vector<double>{1, 1, 1}))
          << to_string(a) << " to " << to_string(b);
    }
  }
}

TEST(BitCast, KeepsTheBits) {
  GraphBuilder g;
  auto x = Tensor::of<float>({2}, {1.0f, -2.0f});
  g.output("y", g.bit_cast(g.input("x", Type::of(x)), {.to = DType::u32}));
  std::vector<Datum> inputs = {x};
  Tensor y = evaluate(std::move(g).finish(), inputs)[0].tensor();
  EXPECT_EQ(y.data<uint32_t>()[0], 0x3f800000u);
  EXPECT_EQ(y.data<uint32_t>()[1], 0xc0000000u);
}

TEST(BitCast, RefusesAnotherWidth) {
  GraphBuilder g;
  Value x = g.input("x", Type::tensor(DType::f32, {2}));
  EXPECT_EQ(thrown_by([&] { g.bit_cast(x, {.to = DType::i64}); }).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ingot::reference
