#pragma once

#include <random>

#include "ingot/graph.h"

// Small networks whose shapes are open.
namespace ingot::devices {

class WeightMaker {
 public:
  explicit WeightMaker(GraphBuilder& g) : g_(g) {}

  Value operator()(const Shape& shape, double scale) {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (float& value : values)
      value = static_cast<float>(scale) * std::uniform_real_distribution<float>(-1, 1)(random_);
    return g_.constant(Tensor::of<float>(shape, values));
  }

 private:
  GraphBuilder& g_;
  std::mt19937 random_{3};
};

// Two encoder layers over f32[batch, length, 48]: three heads of 16, a hidden layer of 96.
inline Graph dynamic_transformer() {
  constexpr int64_t kWidth = 48, kHeads = 3, kHidden = 96;
  GraphBuilder g("transformer");
  WeightMaker weights(g);
  Value x = g.input(
      "x", Type::tensor(DType::f32, {Dim::symbol("batch", 1, 64), Dim::symbol("length", 1, 512), kWidth}));
  const Value split = g.constant(Tensor::of<int64_t>({4}, {0, 0, kHeads, kWidth / kHeads}));
  const Value join = g.constant(Tensor::of<int64_t>({3}, {0, 0, kWidth}));
  const auto linear = [&](Value v, int64_t in, int64_t out) {
    return g.add(g.matmul(v, weights({in, out}, 0.2)), weights({out}, 0.1));
  };
  const auto heads = [&](Value v) { return g.transpose(g.reshape(v, split), {.permutation = {0, 2, 1, 3}}); };
  const auto norm = [&](Value v) { return g.layer_norm(v, weights({kWidth}, 1), weights({kWidth}, 0.1))[0]; };
  for (int layer = 0; layer < 2; ++layer) {
    const Value q = heads(linear(x, kWidth, kWidth)), k = heads(linear(x, kWidth, kWidth)),
                v = heads(linear(x, kWidth, kWidth));
    const Value seen = g.attention(q, k, v, {}, {}, {}, {})[0];
    const Value joined = g.reshape(g.transpose(seen, {.permutation = {0, 2, 1, 3}}), join);
    x = norm(g.add(x, linear(joined, kWidth, kWidth)));
    x = norm(g.add(x, linear(g.gelu(linear(x, kWidth, kHidden)), kHidden, kWidth)));
  }
  g.output("y", x);
  g.output("mean", g.reduce_mean(x, g.constant(Tensor::of<int64_t>({1}, {1}))));
  return std::move(g).finish();
}

// Convolutions of images f32[batch, 3, height, width]: dense, strided, depthwise and 1x1, with pooling.
inline Graph dynamic_cnn() {
  GraphBuilder g("cnn");
  WeightMaker weights(g);
  Value x =
      g.input("x", Type::tensor(DType::f32, {Dim::symbol("batch", 1, 16), 3, Dim::symbol("height", 8, 256),
                                             Dim::symbol("width", 8, 256)}));
  x = g.relu(g.conv(x, weights({16, 3, 3, 3}, 0.3), weights({16}, 0.1),
                    {.strides = {2, 2}, .dilations = {}, .pads = {1, 1, 1, 1}}));
  const Value narrow = x;
  x = g.relu(g.conv(x, weights({16, 1, 3, 3}, 0.4), weights({16}, 0.1),
                    {.strides = {}, .dilations = {}, .pads = {1, 1, 1, 1}, .group = 16}));
  x = g.add(g.conv(x, weights({16, 16, 1, 1}, 0.3), weights({16}, 0.1), {}), narrow);
  x = g.relu(g.conv(x, weights({32, 16, 3, 3}, 0.2), weights({32}, 0.1),
                    {.strides = {}, .dilations = {}, .pads = {1, 1, 1, 1}}));
  x = g.max_pool(x, {.kernel = {2, 2}, .strides = {2, 2}, .dilations = {}, .pads = {}})[0];
  const Value mean = g.reduce_mean(x, g.constant(Tensor::of<int64_t>({2}, {2, 3})), {.keep_dims = false});
  g.output("y", g.softmax(g.add(g.matmul(mean, weights({32, 10}, 0.4)), weights({10}, 0.1))));
  g.output("features", x);
  return std::move(g).finish();
}

}  // namespace ingot::devices
