#include <limits>

#include "ir/builder_helpers.h"
#include "ir/decompose_helpers.h"
#include "ir/decompose_rules.h"

namespace ingot {
namespace {

Value last_axis(GraphBuilder& g, Value x) { return g.unsqueeze(x, int_list(g, {-1})); }

// Samples of an image at grid points: for each point a few pixels, gathered from the flattened image and
// weighted.
class GridSampling {
 public:
  GridSampling(GraphBuilder& g, const GridSampleAttrs& a, Value x, Value grid)
      : g_(g), a_(a), x_(x), grid_(grid), spatial_(g.rank(x) - 2) {}

  Value run() {
    std::vector<Tap> taps{{integer(g_, 0), scalar_like(g_, grid_, 1)}};
    for (int64_t axis = 0; axis < spatial_; ++axis) taps = combine(taps, axis_taps(axis), size(axis));
    // [n, c, pixels] -> [n, pixels, c], points [n, p]
    Value image = g_.transpose(g_.reshape(x_, int_list(g_, {0, 0, -1})), {.permutation = {0, 2, 1}});
    image = cast_to(g_, image, g_.dtype(grid_));
    Value sum;
    for (const Tap& tap : taps) {
      Value pixels = g_.gather_nd(image, last_axis(g_, flat(tap.index)), {.batch_axes = 1});
      bool same_for_all = g_.rank(tap.weight) == 0;
      Value term = g_.mul(pixels, same_for_all ? tap.weight : last_axis(g_, flat(tap.weight)));
      sum = sum.is_none() ? term : g_.add(sum, term);
    }
    Value result = g_.transpose(sum, {.permutation = {0, 2, 1}});
    Value shape = join(g_, {sizes_of(g_, x_, 0, 2), sizes_of(g_, grid_, 1, g_.rank(grid_) - 1)});
    return cast_to(g_, g_.reshape(result, shape, {.zero_is_zero = true}), g_.dtype(x_));
  }

 private:
  struct Tap {
    Value index;  // i64, one per point
    Value weight;
  };

  Value real(double x) { return scalar_like(g_, grid_, x); }
  Value size(int64_t axis) { return as_scalar(g_, size_of(g_, x_, axis + 2)); }
  Value flat(Value per_point) { return g_.reshape(per_point, int_list(g_, {0, -1})); }

  std::vector<Tap> combine(const std::vector<Tap>& outer, const std::vector<Tap>& inner, Value size) {
    std::vector<Tap> all;
    for (const Tap& a : outer)
      for (const Tap& b : inner)
        all.push_back({g_.add(g_.mul(a.index, size), b.index), g_.mul(a.weight, b.weight)});
    return all;
  }

  Value clamp(Value x, Value high) { return g_.max(g_.min(x, high), real(0)); }

  // Mirrors at both borders as often as needed; a triangle wave.
  Value reflect(Value x, Value n) {
    Value low = real(a_.align_corners ? 0 : -0.5);
    Value range = g_.max(g_.sub(n, real(a_.align_corners ? 1 : 0)), real(1));
    Value t = g_.mod(g_.abs(g_.sub(x, low)), g_.mul(range, real(2)));
    return g_.add(low, g_.sub(range, g_.abs(g_.sub(t, range))));
  }

  // Coordinates along one axis in pixels. The last entry of a grid point is the first axis.
  Value coordinate(int64_t axis, Value n) {
    Value v = g_.gather(grid_, integer(g_, spatial_ - 1 - axis), {.axis = -1});
    Value shifted = g_.add(v, real(1));
    Value x = a_.align_corners ? g_.mul(g_.mul(shifted, real(0.5)), g_.sub(n, real(1)))
                               : g_.mul(g_.sub(g_.mul(shifted, n), real(1)), real(0.5));
    if (a_.mode == GridSampleMode::nearest) x = g_.round(x);
    Value low = real(a_.align_corners ? 0 : -0.5), high = g_.sub(n, real(a_.align_corners ? 1 : 0.5));
    Value outside = g_.logical_or(g_.less(x, low), g_.less(high, x));
    if (a_.padding == GridSamplePadding::border) return g_.select(outside, clamp(x, g_.sub(n, real(1))), x);
    if (a_.padding == GridSamplePadding::reflection) return g_.select(outside, reflect(x, n), x);
    return x;
  }

  Tap tap(Value i, Value weight, Value n) {
    Value last = g_.sub(n, real(1));
    Value outside = g_.logical_or(g_.less(i, real(0)), g_.less(last, i));
    if (a_.padding == GridSamplePadding::zeros) weight = g_.select(outside, real(0), weight);
    if (a_.padding == GridSamplePadding::reflection) i = g_.select(outside, reflect(i, n), i);
    return {g_.cast(clamp(i, last), {.to = DType::i64}), weight};
  }

  // Keys' kernel at distance d, which lies in [0, 1] (near) or [1, 2].
  Value cubic(Value d, bool near) {
    constexpr double c = -0.75;
    auto polynomial = [&](double c3, double c2, double c1, double c0) {
      Value p = g_.add(g_.mul(d, real(c3)), real(c2));
      return g_.add(g_.mul(g_.add(g_.mul(p, d), real(c1)), d), real(c0));
    };
    return near ? polynomial(c + 2, -(c + 3), 0, 1) : polynomial(c, -5 * c, 8 * c, -4 * c);
  }

  std::vector<Tap> axis_taps(int64_t axis) {
    Value n = cast_to(g_, size(axis), g_.dtype(grid_)), x = coordinate(axis, n);
    if (a_.mode == GridSampleMode::nearest) return {tap(x, real(1), n)};
    Value base = g_.floor(x), t = g_.sub(x, base);
    std::vector<Tap> taps;
    bool linear = a_.mode == GridSampleMode::linear;
    for (int k = linear ? 0 : -1; k <= (linear ? 1 : 2); ++k) {
      Value distance = g_.abs(g_.sub(t, real(k)));
      Value weight = linear ? g_.sub(real(1), distance) : cubic(distance, k == 0 || k == 1);
      taps.push_back(tap(g_.add(base, real(k)), weight, n));
    }
    return taps;
  }

  GraphBuilder& g_;
  const GridSampleAttrs& a_;
  Value x_;
  Value grid_;
  int64_t spatial_;
};

// Regions of feature maps, pooled. Bilinear sampling is separable: along each axis, a sample point reads its
// lower and upper pixel, and one row of a matrix holds the weights. Rows for all sample points of all bins
// give every weighted pixel as two matrix products.
class RoiAligning {
 public:
  RoiAligning(GraphBuilder& g, const RoiAlignAttrs& a, std::span<const Value> in) : g_(g), a_(a), in_(in) {}

  Value run() {
    Value maps = g_.gather(in_[0], in_[2], {.axis = 0});  // [r, c, h, w]
    Side rows = side(1, a_.height, 2), columns = side(0, a_.width, 3);
    bool average = a_.mode == RoiMode::avg;
    Value y = g_.matmul(weights(rows, average), maps);
    y = g_.matmul(y, g_.transpose(weights(columns, average), {.permutation = {0, 1, 3, 2}}));
    if (average) return y;
    Value shape = join(g_, {sizes_of(g_, y, 0, 2), int_list(g_, {a_.height}), entries(rows),
                            int_list(g_, {a_.width}), entries(columns)});
    y = g_.reshape(y, shape, {.zero_is_zero = true});
    // Entries beyond the sample points of a region take no part.
    Value used = g_.logical_and(g_.reshape(mask(rows), int_list(g_, {0, 1, 1, -1, 1, 1})),
                                g_.reshape(mask(columns), int_list(g_, {0, 1, 1, 1, 1, -1})));
    y = g_.select(used, y, scalar_like(g_, y, -std::numeric_limits<double>::infinity()));
    y = g_.reduce_max(y, int_list(g_, {3, 5}), {.keep_dims = false});
    // An empty region has no sample points: 0.
    Value sampled = g_.logical_and(g_.less(real(0), rows.count), g_.less(real(0), columns.count));
    return g_.select(g_.reshape(sampled, int_list(g_, {-1, 1, 1, 1})), y, real(0));
  }

 private:
  // The sample points along one axis of the feature map: `at` [r, bins, samples], of which the first `count`
  // [r, 1, 1] are real.
  struct Side {
    Value at, count, samples, size;
  };

  Value real(double x) { return scalar_like(g_, in_[0], x); }

  // Column `which` of the regions, in pixels. [r, 1, 1]
  Value border(int64_t which) {
    Value v = g_.reshape(g_.gather(in_[1], integer(g_, which), {.axis = 1}), int_list(g_, {-1, 1, 1}));
    v = cast_to(g_, v, g_.dtype(in_[0]));
    return g_.sub(g_.mul(v, real(a_.spatial_scale)),
                  real(a_.coordinates == RoiCoordinates::half_pixel ? 0.5 : 0));
  }

  Value counted(Value end, const std::vector<int64_t>& shape) {
    Value i = g_.range(integer(g_, 0), end, integer(g_, 1));
    return g_.reshape(cast_to(g_, i, g_.dtype(in_[0])), int_list(g_, shape));
  }

  Side side(int64_t first, int64_t bins, int64_t axis) {
    Value start = border(first), length = g_.sub(border(first + 2), start);
    if (a_.coordinates == RoiCoordinates::output_half_pixel) length = g_.max(length, real(1));
    Value bin = g_.div(length, real(static_cast<double>(bins)));
    Side s;
    s.size = as_scalar(g_, size_of(g_, in_[0], axis));
    s.count = a_.sampling_ratio > 0 ? real(static_cast<double>(a_.sampling_ratio)) : g_.ceil(bin);
    s.samples = a_.sampling_ratio > 0
                    ? integer(g_, a_.sampling_ratio)
                    : g_.cast(g_.reduce_max(s.count, {}, {.keep_dims = false}), {.to = DType::i64});
    Value inside = g_.div(g_.add(counted(s.samples, {1, 1, -1}), real(0.5)), g_.max(s.count, real(1)));
    s.at = g_.add(start, g_.mul(bin, g_.add(counted(integer(g_, bins), {1, -1, 1}), inside)));
    return s;
  }

  Value entries(const Side& s) { return g_.reshape(g_.mul(s.samples, integer(g_, 2)), int_list(g_, {1})); }

  // Which of the samples, lower and upper pixel of each, are real. [r, samples * 2]
  Value mask(const Side& s) {
    Value real_samples = g_.less(counted(s.samples, {1, 1, -1}), s.count);
    Value both = last_axis(g_, real_samples);
    Value pair = g_.concat({both, both}, {.axis = -1});
    Value rows = size_of(g_, in_[1], 0);
    Value flat = g_.reshape(pair, int_list(g_, {0, -1}));
    return g_.broadcast_to(flat, join(g_, {rows, entries(s)}));
  }

  // [r, 1, bins * samples * 2, size], or for a mean [r, 1, bins, size]. A point more than a pixel outside
  // reads none.
  Value weights(const Side& s, bool average) {
    Value n = cast_to(g_, s.size, g_.dtype(in_[0])), last = g_.sub(n, real(1));
    Value outside = g_.logical_or(g_.less(s.at, real(-1)), g_.less(n, s.at));
    Value x = g_.max(g_.min(s.at, last), real(0)), low = g_.floor(x), t = g_.sub(x, low);
    Value high = g_.min(g_.add(low, real(1)), last);
    Value pixel = g_.concat({last_axis(g_, low), last_axis(g_, high)}, {.axis = -1});
    Value weight = g_.concat({last_axis(g_, g_.sub(real(1), t)), last_axis(g_, t)}, {.axis = -1});
    weight = g_.select(last_axis(g_, outside), real(0), weight);
    Value hit = g_.equal(last_axis(g_, pixel), counted(s.size, {1, 1, 1, 1, -1}));
    Value matrix = g_.select(hit, last_axis(g_, weight), real(0));  // [r, bins, samples, 2, size]
    if (!average)
      return g_.reshape(matrix, join(g_, {size_of(g_, in_[1], 0), int_list(g_, {1, -1}),
                                          g_.reshape(s.size, int_list(g_, {1}))}));
    Value real_sample =
        g_.reshape(g_.less(counted(s.samples, {1, 1, -1}), s.count), int_list(g_, {0, 1, -1, 1, 1}));
    Value sum =
        g_.reduce_sum(g_.select(real_sample, matrix, real(0)), int_list(g_, {2, 3}), {.keep_dims = false});
    Value count = g_.max(s.count, real(1));
    return g_.unsqueeze(g_.div(sum, count), int_list(g_, {1}));
  }

  GraphBuilder& g_;
  const RoiAlignAttrs& a_;
  std::span<const Value> in_;
};

}  // namespace

std::vector<Value> decompose_grid_sample(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  return {GridSampling(g, node.as<GridSampleAttrs>(), in[0], in[1]).run()};
}

std::vector<Value> decompose_roi_align(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  return {RoiAligning(g, node.as<RoiAlignAttrs>(), in).run()};
}

}  // namespace ingot
