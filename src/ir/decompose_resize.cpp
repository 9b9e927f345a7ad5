#include <cmath>

#include "ir/builder_helpers.h"
#include "ir/decompose_helpers.h"
#include "ir/decompose_rules.h"

namespace ingot {
namespace {

constexpr DType kReal = DType::f64;  // of coordinates and weights, which are small next to the data

// Resizing is separable. For each axis there are the input coordinates x of the output positions, and either
// the nearest positions are gathered or the data is multiplied by a matrix of kernel weights.
class Resizing {
 public:
  Resizing(GraphBuilder& g, const ResizeAttrs& a, std::span<const Value> in)
      : g_(g), a_(a), in_(in.begin(), in.end()) {
    in_.resize(4);
    axes_ = a.axes;
    int64_t rank = g.rank(in[0]);
    for (int64_t& axis : axes_) axis = axis < 0 ? axis + rank : axis;
    if (axes_.empty())
      for (int64_t i = 0; i < rank; ++i) axes_.push_back(i);
  }

  Value run() {
    Value y = in_[0];
    bool blend = a_.mode != ResizeMode::nearest;
    if (blend) y = cast_to(g_, y, kReal);
    for (size_t i = 0; i < axes_.size(); ++i)
      if (!is_identity(i)) y = resize_axis(y, i);
    return cast_to(g_, y, g_.dtype(in_[0]));
  }

 private:
  struct Axis {
    Value in, out;     // sizes, scalars
    Value scale;       // out / in before rounding
    Value start, end;  // region of interest
  };

  Value real(double x) { return scalar(g_, kReal, x); }
  Value entry(Value list, size_t i) { return g_.gather(list, integer(g_, static_cast<int64_t>(i))); }
  Value size(size_t i) { return as_scalar(g_, size_of(g_, in_[0], axes_[i])); }
  bool crops() const { return a_.coordinates == ResizeCoordinates::tf_crop_and_resize; }

  bool is_identity(size_t i) const {
    return !a_.scales.empty() && a_.scales[i] == 1 && !crops() &&
           a_.coordinates != ResizeCoordinates::tf_half_pixel_for_nn;
  }

  Value ratio(size_t i) { return g_.div(cast_to(g_, entry(in_[3], i), kReal), cast_to(g_, size(i), kReal)); }

  // The one scale of all axes that fits into, or covers, the wanted sizes.
  Value common_ratio() {
    Value common = ratio(0);
    for (size_t i = 1; i < axes_.size(); ++i)
      common = a_.policy == ResizePolicy::not_larger ? g_.min(common, ratio(i)) : g_.max(common, ratio(i));
    return common;
  }

  Axis describe(size_t i) {
    Axis axis;
    axis.in = size(i);
    if (!in_[3].is_none() && a_.policy == ResizePolicy::stretch) {
      axis.out = entry(in_[3], i), axis.scale = ratio(i);
    } else if (!in_[3].is_none()) {
      axis.scale = common_ratio();
      axis.out = floor_to_int(g_.add(g_.mul(axis.scale, cast_to(g_, axis.in, kReal)), real(0.5)));
    } else {
      Value scale = a_.scales.empty() ? entry(in_[2], i) : real(a_.scales[i]);
      axis.scale = cast_to(g_, scale, kReal);
      axis.out = floor_to_int(g_.mul(cast_to(g_, axis.in, DType::f32), cast_to(g_, scale, DType::f32)));
    }
    if (crops()) {
      axis.start = cast_to(g_, entry(in_[1], i), kReal);
      axis.end = cast_to(g_, entry(in_[1], axes_.size() + i), kReal);
    }
    return axis;
  }

  Value floor_to_int(Value x) { return g_.cast(g_.floor(x), {.to = DType::i64}); }

  // x[out], in f64.
  Value coordinates(const Axis& axis) {
    Value o = g_.cast(g_.range(integer(g_, 0), axis.out, integer(g_, 1)), {.to = kReal});
    Value in = cast_to(g_, axis.in, kReal), width = g_.mul(axis.scale, in), last = g_.sub(in, real(1));
    Value half = g_.div(g_.add(o, real(0.5)), axis.scale), several = g_.less(integer(g_, 1), axis.out);
    switch (a_.coordinates) {
      case ResizeCoordinates::half_pixel: return g_.sub(half, real(0.5));
      case ResizeCoordinates::half_pixel_symmetric: {
        Value adjustment = g_.div(cast_to(g_, axis.out, kReal), width);
        Value offset = g_.mul(g_.mul(in, real(0.5)), g_.sub(real(1), adjustment));
        return g_.add(offset, g_.sub(half, real(0.5)));
      }
      case ResizeCoordinates::pytorch_half_pixel: return g_.select(several, g_.sub(half, real(0.5)), real(0));
      case ResizeCoordinates::align_corners: {
        Value gaps = g_.sub(width, real(1)), one = g_.equal(gaps, real(0));
        Value x = g_.div(g_.mul(o, last), g_.select(one, real(1), gaps));
        return g_.select(g_.logical_and(several, g_.logical_not(one)), x, real(0));
      }
      case ResizeCoordinates::asymmetric: return g_.div(o, axis.scale);
      case ResizeCoordinates::tf_half_pixel_for_nn: return half;
      case ResizeCoordinates::tf_crop_and_resize: {
        Value gaps = g_.select(several, g_.sub(width, real(1)), real(1));
        Value x = g_.add(axis.start, g_.div(g_.mul(o, g_.sub(axis.end, axis.start)), gaps));
        Value middle = g_.mul(g_.add(axis.start, axis.end), real(0.5));
        return g_.mul(g_.select(several, x, middle), last);
      }
    }
    return o;
  }

  Value resize_axis(Value x, size_t i) {
    Axis axis = describe(i);
    Value at = coordinates(axis);
    Value y = a_.mode == ResizeMode::nearest ? pick(x, axes_[i], axis, at) : blend(x, axes_[i], axis, at);
    if (!crops()) return y;
    Value last = g_.sub(cast_to(g_, axis.in, kReal), real(1));
    Value outside = g_.logical_or(g_.less(at, real(0)), g_.less(last, at));
    std::vector<int64_t> shape(static_cast<size_t>(g_.rank(x)), 1);
    shape[static_cast<size_t>(axes_[i])] = -1;
    return g_.select(g_.reshape(outside, int_list(g_, shape)), scalar_like(g_, y, a_.extrapolation), y);
  }

  Value rounded(Value at) {
    switch (a_.nearest) {
      case ResizeNearest::round_prefer_floor: return g_.ceil(g_.sub(at, real(0.5)));
      case ResizeNearest::round_prefer_ceil: return g_.floor(g_.add(at, real(0.5)));
      case ResizeNearest::floor: return g_.floor(at);
      case ResizeNearest::ceil: return g_.ceil(at);
    }
    return at;
  }

  Value pick(Value x, int64_t where, const Axis& axis, Value at) {
    Value index = g_.cast(rounded(at), {.to = DType::i64});
    index = g_.max(g_.min(index, g_.sub(axis.in, integer(g_, 1))), integer(g_, 0));
    return g_.gather(x, index, {.axis = where});
  }

  Value kernel(Value distance) {
    Value d = g_.abs(distance);
    if (a_.mode == ResizeMode::linear) return g_.max(g_.sub(real(1), d), real(0));
    double c = a_.cubic_coefficient;
    auto polynomial = [&](double c3, double c2, double c1, double c0) {
      Value p = g_.add(g_.mul(d, real(c3)), real(c2));
      p = g_.add(g_.mul(p, d), real(c1));
      return g_.add(g_.mul(p, d), real(c0));
    };
    Value outer = g_.select(g_.less(d, real(2)), polynomial(c, -5 * c, 8 * c, -4 * c), real(0));
    return g_.select(g_.less_or_equal(d, real(1)), polynomial(c + 2, -(c + 3), 0, 1), outer);
  }

  // The data is continued beyond its edges as far as the kernel reaches, unless what lies outside counts
  // nothing.
  Value blend(Value x, int64_t where, const Axis& axis, Value at) {
    Value stretch = a_.antialias ? g_.min(axis.scale, real(1)) : real(1);
    Value margin = integer(g_, 0);
    if (!a_.exclude_outside) {
      Value reach = g_.div(real(a_.mode == ResizeMode::linear ? 1 : 2), stretch);
      margin = g_.add(g_.cast(g_.ceil(reach), {.to = DType::i64}), integer(g_, 1));
      Value pads = g_.reshape(margin, int_list(g_, {1}));
      x = g_.pad(x, g_.concat({pads, pads}, {.axis = 0}), {}, int_list(g_, {where}), {.mode = PadMode::edge});
    }
    Value j = g_.range(g_.neg(margin), g_.add(axis.in, margin), integer(g_, 1));
    Value distance = g_.sub(g_.cast(j, {.to = kReal}), g_.unsqueeze(at, int_list(g_, {1})));
    Value weights = kernel(g_.mul(distance, stretch));
    if (a_.antialias || a_.exclude_outside)
      weights = g_.div(weights, g_.reduce_sum(weights, int_list(g_, {1}), {.keep_dims = true}));
    std::vector<int64_t> swap;
    for (int64_t i = 0; i < g_.rank(x); ++i) swap.push_back(i);
    std::swap(swap[static_cast<size_t>(where)], swap.back());
    Value y = g_.matmul(g_.transpose(x, {.permutation = swap}), g_.transpose(weights));
    return g_.transpose(y, {.permutation = swap});
  }

  GraphBuilder& g_;
  const ResizeAttrs& a_;
  std::vector<Value> in_;
  std::vector<int64_t> axes_;
};

}  // namespace

std::vector<Value> decompose_resize(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  return {Resizing(g, node.as<ResizeAttrs>(), in).run()};
}

}  // namespace ingot
