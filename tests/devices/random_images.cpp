// Convolutions, pools and norms over channels, on [batch, channels, height, width] and [batch, channels,
// length].
#include "tests/devices/random_pool.h"

namespace ingot::devices {
namespace {

std::optional<RandomPool::Entry> pick_image(RandomPool& p, int64_t rank = 0) {
  return p.pick([&](Value v) {
    const int64_t r = p.g.rank(v);
    return p.g.dtype(v) == p.real && (rank == 0 ? r == 3 || r == 4 : r == rank) && p.is_known(v, 1);
  });
}

// Kernel, strides and so on of each spatial axis, such that a size of 1 leaves something.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;
};

Window draw_window(RandomPool& p, size_t axes, bool dilated) {
  Window w;
  w.pads.resize(2 * axes);
  for (size_t axis = 0; axis < axes; ++axis) {
    const int64_t kernel = p.random.pick(std::vector<int64_t>{1, 1, 2, 3, 3, 3, 5, 7});
    const int64_t dilation = dilated && p.random.chance(0.2) ? 2 : 1, span = (kernel - 1) * dilation;
    w.kernel.push_back(kernel);
    w.dilations.push_back(dilation);
    w.strides.push_back(p.random.chance(0.7) ? 1 : 2);
    w.pads[axis] = span / 2;
    w.pads[axes + axis] = span - span / 2;
  }
  return w;
}

int64_t draw_group(RandomPool& p, int64_t channels) {
  if (p.random.chance(0.6)) return 1;
  if (p.random.chance(0.6)) return channels;
  return channels % 2 == 0 ? 2 : channels % 3 == 0 ? 3 : 1;
}

bool convolution(RandomPool& p) {
  const auto x = pick_image(p);
  if (!x) return false;
  const Shape shape = p.shape(x->value);
  const int64_t channels = shape[1], group = draw_group(p, channels);
  const int64_t out =
      group == channels && p.random.chance(0.8) ? channels : group * std::max<int64_t>(1, p.size() / group);
  const Window w = draw_window(p, shape.size() - 2, true);
  Shape weights = {out, channels / group};
  weights.insert(weights.end(), w.kernel.begin(), w.kernel.end());
  const int64_t terms = element_count(weights) / out;
  const Value bias = p.random.chance(0.7) ? p.constant(p.real, {out}, {-1, 1}) : Value();
  Value y = p.g.conv(x->value, p.weight(weights, terms), bias,
                     {.strides = w.strides, .dilations = w.dilations, .pads = w.pads, .group = group});
  const double activation = p.random.real(0, 1);
  if (activation < 0.3)
    y = p.g.relu(y);
  else if (activation < 0.4)
    y = p.g.swish(y);
  p.offer(y);
  return true;
}

bool transposed_convolution(RandomPool& p) {
  const auto x = pick_image(p, 4);
  if (!x) return false;
  const int64_t channels = p.shape(x->value)[1], out = p.size();
  const Value w = p.weight({channels, out, 2, 2}, channels);
  p.offer(p.g.conv_transpose(x->value, w, {}, {.strides = {2, 2}}));
  return true;
}

bool max_pool(RandomPool& p) {
  const auto x = pick_image(p);
  if (!x) return false;
  const Window w = draw_window(p, p.shape(x->value).size() - 2, false);
  p.offer(p.g.max_pool(x->value, {.kernel = w.kernel, .strides = w.strides, .pads = w.pads})[0], x->exact);
  return true;
}

bool average_pool(RandomPool& p) {
  const auto x = pick_image(p);
  if (!x) return false;
  const Window w = draw_window(p, p.shape(x->value).size() - 2, false);
  p.offer(p.g.average_pool(
      x->value,
      {.kernel = w.kernel, .strides = w.strides, .pads = w.pads, .count_include_pad = p.random.chance(0.5)}));
  return true;
}

bool channel_norm(RandomPool& p) {
  const auto x = pick_image(p);
  if (!x) return false;
  const Shape channels = {p.shape(x->value)[1]};
  auto vector = [&](double low, double high) { return p.constant(p.real, channels, {low, high}); };
  const Value scale = vector(0.5, 1.5), bias = vector(-1, 1);
  switch (p.random.below(4)) {
    case 0: p.offer(p.g.instance_norm(x->value, scale, bias, {.epsilon = 0.01})); break;
    case 1:
      p.offer(
          p.g.group_norm(x->value, scale, bias, {.groups = channels[0] % 2 == 0 ? 2 : 1, .epsilon = 0.01}));
      break;
    default: {
      const Value mean = vector(-0.5, 0.5), variance = vector(0.5, 1.5);
      p.offer(p.g.batch_norm(x->value, scale, bias, mean, variance));
    }
  }
  return true;
}

// A factor per channel from the mean of the image, as squeeze-and-excitation has it.
bool squeeze_and_excite(RandomPool& p) {
  const auto x = pick_image(p, 4);
  if (!x) return false;
  const int64_t channels = p.shape(x->value)[1], middle = std::max<int64_t>(1, channels / 4);
  const Value mean = p.g.reduce_mean(x->value, p.ints({2, 3}));
  const Value squeezed = p.g.relu(p.g.conv(mean, p.weight({middle, channels, 1, 1}, channels), {}));
  p.offer(p.g.mul(x->value, p.g.sigmoid(p.g.conv(squeezed, p.weight({channels, middle, 1, 1}, middle), {}))));
  return true;
}

bool resize(RandomPool& p) {
  const auto x = pick_image(p, 4);
  if (!x) return false;
  ResizeAttrs a;
  a.mode = p.random.chance(0.5) ? ResizeMode::nearest : ResizeMode::linear;
  a.coordinates = p.random.chance(0.5) ? ResizeCoordinates::half_pixel : ResizeCoordinates::asymmetric;
  a.scales = {2, 2};
  a.axes = {2, 3};
  p.offer(p.g.resize(x->value, {}, {}, {}, a), x->exact && a.mode == ResizeMode::nearest);
  return true;
}

}  // namespace

std::vector<Piece> image_pieces() {
  return {convolution,  convolution,        convolution, transposed_convolution, max_pool, average_pool,
          channel_norm, squeeze_and_excite, resize};
}

}  // namespace ingot::devices
