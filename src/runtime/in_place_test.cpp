// Outputs in the memory of inputs.
#include <array>
#include <numeric>

#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kRows = 8, kWidth = 64;

// cache_out = cache with `row` at position `at`; sum = the sum of cache_out over its rows.
Graph cache_graph() {
  GraphBuilder g("cache");
  const Value cache = g.input("cache", Type::tensor(DType::f32, {kRows, kWidth}));
  const Value row = g.input("row", Type::tensor(DType::f32, {1, kWidth}));
  const Value at = g.input("at", Type::tensor(DType::i64, {1, 1}));
  const Value updated = g.scatter_nd(cache, at, row);
  g.output("cache_out", updated);
  g.output("sum", g.reduce_sum(updated, g.constant(Tensor::of<int64_t>({1}, {0}))));
  return std::move(g).finish();
}

class InPlace : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Context> create(Graph graph) {
    return open_graph(std::move(graph), {}, {.device = GetParam(), .cache_folder = ""})->create_context();
  }
  static void run(Context& context) {
    Stream stream;
    context.enqueue(stream);
    stream.synchronize();
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, InPlace, testing::Values("cpu", "reference"));

TEST_P(InPlace, ACacheIsUpdatedWhereItLies) {
  auto context = create(cache_graph());
  Floats cache(kRows * kWidth, 1), row(kWidth), sum(kWidth), expected = cache;
  int64_t at = 0;
  context->bind_input("cache", std::span<const float>(cache));
  context->bind_output("cache_out", std::span(cache));
  context->bind_input("row", std::span<const float>(row));
  context->bind_input("at", std::span<const int64_t>(&at, 1));
  context->bind_output("sum", std::span(sum));
  for (at = 0; at < kRows; ++at) {
    row.assign(kWidth, static_cast<float>(10 * at));
    std::fill_n(expected.begin() + at * kWidth, kWidth, static_cast<float>(10 * at));
    run(*context);
    EXPECT_EQ(cache, expected) << at;
    float total = 0;
    for (int64_t i = 0; i < kRows; ++i) total += expected[static_cast<size_t>(i * kWidth)];
    EXPECT_EQ(sum, Floats(kWidth, total)) << at;
  }
}

// out = x reversed + x: elements are read after others have been written, so it cannot be done in place.
TEST_P(InPlace, IsRightWhereElementsAreReadLater) {
  GraphBuilder g("reverse");
  const Value x = g.input("x", Type::tensor(DType::f32, {1000}));
  std::vector<int64_t> order(1000);
  std::iota(order.rbegin(), order.rend(), 0);
  const Value reversed = g.gather(x, g.constant(Tensor::of<int64_t>({1000}, order)), {.axis = 0});
  g.output("y", g.add(reversed, x));
  auto context = create(std::move(g).finish());
  Floats x_y(1000);
  std::iota(x_y.begin(), x_y.end(), 0.0f);
  for (size_t i = 0; i < 500; ++i) x_y[i] *= 2;
  Floats expected(1000);
  for (size_t i = 0; i < 1000; ++i) expected[i] = x_y[i] + x_y[999 - i];
  context->bind_input("x", std::span<const float>(x_y));
  context->bind_output("y", std::span(x_y));
  run(*context);
  EXPECT_EQ(x_y, expected);
}

// Two outputs, each in place of the input that the other one passes on.
TEST_P(InPlace, InputsMayChangePlaces) {
  GraphBuilder g("swap");
  const Value a = g.input("a", Type::tensor(DType::f32, {4})),
              b = g.input("b", Type::tensor(DType::f32, {4}));
  g.output("a_out", b);
  g.output("b_out", a);
  auto context = create(std::move(g).finish());
  Floats first = {1, 2, 3, 4}, second = {5, 6, 7, 8};
  context->bind_input("a", std::span<const float>(first));
  context->bind_input("b", std::span<const float>(second));
  context->bind_output("a_out", std::span(first));
  context->bind_output("b_out", std::span(second));
  run(*context);
  EXPECT_EQ(first, (Floats{5, 6, 7, 8}));
  EXPECT_EQ(second, (Floats{1, 2, 3, 4}));
}

// The old values of an input, passed on beside what replaces them.
TEST_P(InPlace, WhatIsReplacedMayBeAnOutputToo) {
  GraphBuilder g("both");
  const Value x = g.input("x", Type::tensor(DType::f32, {4}));
  g.output("twice", g.add(x, x));
  g.output("old", x);
  g.output("square", g.reshape(g.mul(x, x), g.constant(Tensor::of<int64_t>({2}, {2, 2}))));
  auto context = create(std::move(g).finish());
  Floats x_twice = {1, 2, 3, 4}, old(4), square(4);
  context->bind_input("x", std::span<const float>(x_twice));
  context->bind_output("twice", std::span(x_twice));
  context->bind_output("old", std::span(old));
  context->bind_output("square", std::span(square));
  run(*context);
  EXPECT_EQ(x_twice, (Floats{2, 4, 6, 8}));
  EXPECT_EQ(old, (Floats{1, 2, 3, 4}));
  EXPECT_EQ(square, (Floats{1, 4, 9, 16}));
}

TEST_P(InPlace, OtherOverlapsAreRefusedWithBothNames) {
  GraphBuilder g("two");
  const Type type = Type::tensor(DType::f32, {4});
  const Value a = g.input("a", type), b = g.input("b", type);
  g.output("sum", g.add(a, b));
  g.output("product", g.mul(a, b));
  auto context = create(std::move(g).finish());
  Floats memory = {1, 2, 3, 4, 5, 6, 7, 8}, other(8);
  auto bind = [&](float* a_at, float* b_at, float* sum, float* product) {
    context->bind_input("a", a_at, 16);
    context->bind_input("b", b_at, 16);
    context->bind_output("sum", sum, 16);
    context->bind_output("product", product, 16);
  };
  Stream stream;
  auto refusal = [&] { return thrown_by([&] { context->enqueue(stream); }); };
  float* const m = memory.data();
  bind(m, m + 4, m + 1, other.data());
  Error e = refusal();
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().name, "sum");
  EXPECT_NE(e.parts().expected.find("input 'a'"), std::string::npos) << e.what();
  bind(m, m + 4, other.data(), other.data() + 2);
  e = refusal();
  EXPECT_EQ(e.parts().name, "product");
  EXPECT_NE(e.parts().expected.find("output 'sum'"), std::string::npos) << e.what();
  bind(m, m, m, other.data());
  EXPECT_EQ(refusal().parts().name, "sum") << "one output cannot replace two inputs";
  bind(m, m + 4, other.data(), other.data() + 4);
  run(*context);
  EXPECT_EQ(other, (Floats{6, 8, 10, 12, 5, 12, 21, 32}));
}

TEST_P(InPlace, AnAllocatorMustGiveMemoryOfItsOwn) {
  auto context = create(reshape_graph());
  Floats x = {1, 2, 3, 4};
  const std::array<int64_t, 2> shape = {2, 2};
  context->set_shape("x", {4});
  context->bind_input("x", std::span<const float>(x));
  context->bind_input("shape", std::span<const int64_t>(shape));
  context->set_output_allocator("y", [&](auto&&...) { return x.data() + 1; });
  const Error e = thrown_by([&] { run(*context); });
  EXPECT_EQ(e.parts().name, "y");
  EXPECT_NE(e.parts().expected.find("input 'x'"), std::string::npos) << e.what();
}

}  // namespace
}  // namespace ingot
