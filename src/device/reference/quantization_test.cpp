#include <gtest/gtest.h>

#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/evaluate.h"
#include "device/reference/kernel.h"
#include "ir/decompose.h"
#include "support/thrown_by.h"

// What the ONNX cases leave open. Expected values follow from y = saturate(round_half_even(x / scale) +
// zero_point), worked out with NumPy.
namespace ingot::reference {
namespace {

std::vector<double> quantized(const Tensor& x, const Tensor& scale, const std::optional<Tensor>& zero,
                              const QuantizeAttrs& attrs) {
  GraphBuilder g;
  Value z = zero ? g.constant(*zero) : Value();
  g.output("y", g.quantize(g.constant(x), g.constant(scale), z, attrs));
  return load<double>(evaluate(std::move(g).finish(), {})[0].tensor());
}

TEST(Quantize, TiesGoToEvenAndTheEndsSaturate) {
  auto x = Tensor::of<float>({8}, {-1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 300, -300, INFINITY});
  EXPECT_EQ(quantized(x, Tensor::of<float>({}, {1}), Tensor::of<uint8_t>({}, {3}), {}),
            (std::vector<double>{1, 3, 3, 5, 5, 255, 0, 255}));
  EXPECT_EQ(quantized(x, Tensor::of<float>({}, {1}), {}, {.to = DType::i4}),
            (std::vector<double>{-2, 0, 0, 2, 2, 7, -8, 7}));
}

TEST(Quantize, TheQuotientIsRoundedToThePrecisionFirst) {
  Tensor x = Tensor::allocate(DType::f16, {1}), scale = Tensor::allocate(DType::f16, {});
  store(x, std::vector<double>{2.25});
  store(scale, std::vector<double>{0.3});  // 0.30004883 as f16: 7.4988 in f32, 7.5 in f16
  EXPECT_EQ(quantized(x, scale, {}, {.precision = DType::f16}), std::vector<double>{8});
  EXPECT_EQ(quantized(x, scale, {}, {.precision = DType::f32}), std::vector<double>{7});
}

TEST(Quantize, TheLastBlockMayBeShort) {
  auto x = Tensor::of<float>({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  auto scale = Tensor::of<float>({2, 3}, {1, 2, 5, 1, 0.5f, 0.1f});
  EXPECT_EQ(quantized(x, scale, {}, {.axis = -1, .block_size = 2}),
            (std::vector<double>{1, 2, 2, 2, 1, 6, 7, 16, 18, 100}));
}

TEST(Quantize, ScalesRunAlongANegativeAxis) {
  auto x = Tensor::of<float>({2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(quantized(x, Tensor::of<float>({2}, {1, 2}), {}, {.axis = -2}),
            (std::vector<double>{2, 4, 6, 4, 5, 6}));
}

TEST(Quantize, RefusesScalesThatDoNotFit) {
  auto x = Tensor::of<float>({2, 3}, {2, 4, 6, 8, 10, 12});
  auto code = [&](Shape shape, std::vector<float> scale, const QuantizeAttrs& attrs) {
    return thrown_by([&] { quantized(x, Tensor::of<float>(shape, scale), {}, attrs); }).code();
  };
  EXPECT_EQ(code({3}, {1, 1, 1}, {.axis = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({2}, {1, 1}, {.axis = 5}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({2, 1}, {1, 1}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({2, 1}, {1, 1}, {.axis = 1, .block_size = 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({}, {1}, {.block_size = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({}, {1}, {.to = DType::f32}), ErrorCode::invalid_argument);
}

TEST(Dequantize, SubtractsTheZeroPointBeforeScaling) {
  GraphBuilder g;
  auto x = Tensor::of<int32_t>({3}, {INT32_MIN, 0, INT32_MAX});
  g.output("y", g.dequantize(g.constant(x), g.constant(Tensor::of<float>({}, {2})),
                             g.constant(Tensor::of<int32_t>({}, {-1}))));
  auto y = load<double>(evaluate(std::move(g).finish(), {})[0].tensor());
  EXPECT_EQ(y, (std::vector<double>{-4294967296.0, 2, 4294967296.0}));
}

TEST(DynamicQuantize, ATensorOfZerosGetsScaleOne) {
  GraphBuilder g;
  auto [y, scale, zero] = g.dynamic_quantize(g.constant(Tensor::of<float>({2}, {0, 0})));
  g.output("y", y);
  g.output("scale", scale);
  g.output("zero", zero);
  auto out = evaluate(std::move(g).finish(), {});
  EXPECT_EQ(load<double>(out[0].tensor()), (std::vector<double>{0, 0}));
  EXPECT_EQ(load<double>(out[1].tensor()), (std::vector<double>{1}));
}

TEST(MatMulInteger, KernelAgreesWithTheDecomposition) {
  GraphBuilder g;
  std::vector<int8_t> a, b;
  for (int i = 0; i < 2 * 3 * 40; ++i) a.push_back(static_cast<int8_t>(i * 37));
  for (int i = 0; i < 40 * 4; ++i) b.push_back(static_cast<int8_t>(i * 91));
  std::vector<Datum> inputs = {Tensor::of({2, 3, 40}, a), Tensor::of({40, 4}, b),
                               Tensor::of<int8_t>({3, 1}, {-128, 5, 127}),
                               Tensor::of<int8_t>({4}, {-128, 1, 2, 127})};
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(g.input(fmt::format("{}", i), Type::of(inputs[i].tensor())));
  g.output("y", g.matmul_integer(values[0], values[1], values[2], values[3]));
  Graph whole = std::move(g).finish();
  ASSERT_NE(find_kernel(Op::MatMulInteger), nullptr);
  Decomposed parts = decompose(whole.node(whole.outputs()[0].value), inputs);
  EXPECT_TRUE(evaluate(whole, inputs)[0].tensor().identical(evaluate(parts.graph, parts.inputs)[0].tensor()));
}

}  // namespace
}  // namespace ingot::reference
