#include "device/cpu/block_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/cpu/cpu_device.h"
#include "device/reference/evaluate.h"
#include "ir/numeric.h"

namespace ingot::cpu {
namespace {

enum class Zeros { none, equal, different };

struct Form {
  DType dtype;
  int64_t rows, columns, depth, block;
  bool depth_is_last;
  Zeros zeros;
  bool half_scales;
};

void PrintTo(const Form& f, std::ostream* out) {
  *out << to_string(f.dtype) << " " << f.rows << "x" << f.depth << "x" << f.columns << " block " << f.block
       << (f.depth_is_last ? " depth last" : "") << " zeros " << static_cast<int>(f.zeros)
       << (f.half_scales ? " half scales" : "");
}

// A graph of one product and the numbers in it.
class Product {
 public:
  explicit Product(const Form& f) : f_(f) {
    const Value x = g_.input("x", Type::tensor(DType::f32, {Dim(f.rows), Dim(f.depth)}));
    const Value integers = g_.constant(integer_tensor(matrix_shape(f.depth), -8, 15));
    const Value scales = g_.constant(scale_tensor());
    Value zeros;
    if (f.zeros == Zeros::equal) zeros = g_.constant(integer_tensor(matrix_shape(f.depth / f.block), 5, 5));
    if (f.zeros == Zeros::different)
      zeros = g_.constant(integer_tensor(matrix_shape(f.depth / f.block), 1, 7));
    Value b =
        g_.dequantize(integers, scales, zeros, {.axis = f.depth_is_last ? 1 : 0, .block_size = f.block});
    if (f.depth_is_last) b = g_.transpose(b, {.permutation = {1, 0}});
    product_ = g_.matmul(x, b);
    g_.output("y", product_);
  }

  Graph graph() && { return std::move(g_).finish(); }

 private:
  Shape matrix_shape(int64_t depth) const {
    return f_.depth_is_last ? Shape{f_.columns, depth} : Shape{depth, f_.columns};
  }

  Tensor integer_tensor(const Shape& shape, int64_t low, int64_t high) {
    const bool is_signed = f_.dtype == DType::i4 || f_.dtype == DType::i8;
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    std::uniform_int_distribution<int64_t> pick(
        is_signed ? std::max<int64_t>(low, -8) : std::max<int64_t>(low, 0),
        is_signed ? std::min<int64_t>(high, 7) : high);
    for (double& v : values) v = static_cast<double>(pick(random_));
    Tensor tensor = Tensor::allocate(f_.dtype, shape);
    encode_from_f64(f_.dtype, values.data(), tensor.count(), tensor.mutable_bytes().data());
    return tensor;
  }

  Tensor scale_tensor() {
    Tensor tensor = Tensor::allocate(DType::f32, matrix_shape(f_.depth / f_.block));
    std::uniform_real_distribution<float> pick(-0.2f, 0.2f);
    for (float& v : tensor.mutable_data<float>()) {
      v = pick(random_);
      if (f_.half_scales) v = std::ldexp(std::round(std::ldexp(v, 13)), -13);  // 11 bits, a normal f16
    }
    return tensor;
  }

  Form f_;
  std::mt19937 random_{1};
  GraphBuilder g_;
  Value product_;
};

Tensor random_rows(const Shape& shape) {
  std::mt19937 random{2};
  std::normal_distribution<float> pick;
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& v : tensor.mutable_data<float>()) v = pick(random);
  return tensor;
}

const Node& matmul_of(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (node.op == Op::MatMul) return node;
  throw std::logic_error("no matmul");
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (DType dtype : {DType::u4, DType::i4, DType::u8, DType::i8})
    for (bool depth_is_last : {true, false})
      for (Zeros zeros : {Zeros::none, Zeros::equal, Zeros::different})
        all.push_back({dtype, 1, 70, 64, 32, depth_is_last, zeros, zeros == Zeros::equal});
  for (int64_t rows : {2, 5, 7, 12, 131})
    all.push_back({DType::u4, rows, 100, 96, 16, true, Zeros::equal, true});
  all.push_back({DType::u4, 129, 64, 32, 32, true, Zeros::none, false});
  all.push_back({DType::u4, 7, 130, 320, 32, true, Zeros::different, false});
  all.push_back({DType::i8, 13, 66, 256, 256, false, Zeros::none, true});
  all.push_back({DType::i8, 9, 5, 24, 8, false, Zeros::different, false});
  all.push_back({DType::u4, 1, 64, 128, 128, true, Zeros::none, false});
  all.push_back({DType::u4, 1, 1, 8, 8, true, Zeros::none, false});
  return all;
}

class BlockProductTest : public testing::TestWithParam<Form> {};

// Against the product in double of what dequantising means: (q - zero) * scale.
TEST_P(BlockProductTest, EqualsTheProductOfDequantisedWeights) {
  const Form& f = GetParam();
  const Graph graph = Product(f).graph();
  const std::optional<BlockQuantised> weights = find_block_quantised(graph, matmul_of(graph));
  ASSERT_TRUE(weights);
  const BlockLayout layout = block_layout(*weights);
  EXPECT_EQ(layout.half_scales, f.half_scales);
  EXPECT_EQ(layout.has_zeros, f.zeros == Zeros::different && f.columns * f.depth > f.block);
  std::vector<std::byte> packed(static_cast<size_t>(layout.panels() * layout.panel_bytes()));
  pack_block_panels(*weights, layout, 0, layout.panels(), packed.data());

  const Tensor x = random_rows({f.rows, f.depth});
  std::vector<float> out(static_cast<size_t>(f.rows * f.columns), NAN);
  const BlockProduct product{layout, packed.data(), x.data<float>().data(), out.data(), f.rows};
  std::vector<float> shared(static_cast<size_t>(product.shared_floats()));
  std::vector<float> own(static_cast<size_t>(product.thread_floats()));
  prepare_rows(product, shared.data());
  multiply_panels(product, shared.data(), own.data(), 0, layout.panels());

  const auto at = [&](int64_t k, int64_t n, int64_t depth) {
    return static_cast<size_t>(f.depth_is_last ? n * depth + k : k * f.columns + n);
  };
  const auto numbers = [](const Tensor& t) {
    std::vector<double> values(static_cast<size_t>(t.count()));
    decode_to_f64(t.dtype(), t.bytes().data(), t.count(), values.data());
    return values;
  };
  const std::vector<double> q = numbers(weights->integers), s = numbers(weights->scales);
  const std::vector<double> z = weights->zeros ? numbers(*weights->zeros) : std::vector<double>(s.size(), 0);
  for (int64_t r = 0; r < f.rows; ++r)
    for (int64_t n = 0; n < f.columns; ++n) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < f.depth; ++k) {
        const size_t block = at(k / f.block, n, f.depth / f.block);
        const double term = x.data<float>()[static_cast<size_t>(r * f.depth + k)] *
                            (q[at(k, n, f.depth)] - z[block]) * s[block];
        sum += term;
        magnitude += std::fabs(term) * 4;  // the zero point is taken off the sums
      }
      ASSERT_NEAR(out[static_cast<size_t>(r * f.columns + n)], sum, magnitude * 1e-6 + 1e-7)
          << r << ", " << n;
    }
}

TEST_P(BlockProductTest, DeviceAgreesWithTheReference) {
  const Form& f = GetParam();
  const auto graph = std::make_shared<const Graph>(Product(f).graph());
  const std::vector<Datum> inputs = {random_rows({f.rows, f.depth})};
  const Tensor expected = reference::evaluate(*graph, inputs).at(0).tensor();

  struct Sink : OutputSink {
    std::optional<std::span<std::byte>> memory(size_t, const Shape&) override { return std::nullopt; }
    void deliver(size_t, Datum output) override { result = std::move(output); }
    Datum result;
  } sink;
  CompileOptions options;
  options.threads = 2;
  const auto program = device().compile(graph, options);
  program->start()->run(inputs, sink);
  EXPECT_EQ(program->stats().reference_nodes, 0u);
  const auto actual = sink.result.tensor().data<float>(), wanted = expected.data<float>();
  ASSERT_EQ(actual.size(), wanted.size());
  const double largest =
      std::fabs(*std::ranges::max_element(wanted, {}, [](float v) { return std::fabs(v); }));
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], wanted[i], largest * 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Forms, BlockProductTest, testing::ValuesIn(forms()));

TEST(BlockWeightsTest, OtherFormsAreLeftToOthers) {
  const Form fit = {DType::u4, 1, 64, 64, 32, true, Zeros::none, false};
  const auto taken = [](const Graph& graph) {
    return find_block_quantised(graph, matmul_of(graph)).has_value();
  };
  EXPECT_TRUE(taken(Product(fit).graph()));
  Form small_block = fit;
  small_block.block = 4;  // less than a word of eight
  EXPECT_FALSE(taken(Product(small_block).graph()));

  GraphBuilder g;  // weights that only a run tells
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim(1), Dim(64)}));
  const Value q = g.input("q", Type::tensor(DType::u8, {Dim(64), Dim(9)}));
  const Value scales = g.constant(random_rows({2, 9}));
  g.output("y", g.matmul(x, g.dequantize(q, scales, {}, {.axis = 0, .block_size = 32})));
  EXPECT_FALSE(taken(std::move(g).finish()));
}

}  // namespace
}  // namespace ingot::cpu
