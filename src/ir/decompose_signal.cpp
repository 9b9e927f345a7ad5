#include <numbers>

#include "ingot/error.h"
#include "ir/builder_helpers.h"
#include "ir/decompose_helpers.h"
#include "ir/decompose_rules.h"

namespace ingot {
namespace {

constexpr DType kReal = DType::f64;  // of tables; they are rounded once, when they meet the data

Value real(GraphBuilder& g, double value) { return scalar(g, kReal, value); }

// A vector as a column of a table.
Value column(GraphBuilder& g, Value vector) { return g.unsqueeze(vector, int_list(g, {1})); }

Value half_spectrum(GraphBuilder& g, Value length) {
  return g.add(g.div(length, integer(g, 2)), integer(g, 1));
}

// 1 where the last axis holds real numbers, 2 where it holds complex ones.
int64_t parts_of(GraphBuilder& g, Value x) {
  const Dim& last = g.dims(x).back();
  if (!last.is_constant())
    throw Error({.code = ErrorCode::unsupported,
                 .object = "decomposition of a Fourier transform",
                 .expected = "a known size of the last axis",
                 .observed = last.to_string()});
  return last.constant();
}

Value part(GraphBuilder& g, Value x, int64_t which) { return g.gather(x, integer(g, which), {.axis = -1}); }

int64_t axis_of(GraphBuilder& g, const DftAttrs& a, std::span<const Value> in, int64_t rank) {
  int64_t axis = a.axis;
  if (in.size() > 2 && !in[2].is_none()) {
    auto known = g.known_values(in[2]);
    if (!known || known->size() != 1 || !known->front().is_constant())
      throw Error({.code = ErrorCode::unsupported,
                   .object = "decomposition of a Fourier transform",
                   .expected = "a known axis",
                   .observed = "a computed one"});
    axis = known->front().constant();
  }
  return axis < 0 ? axis + rank : axis;
}

// Axes `a` and `b` change places.
Value swap_axes(GraphBuilder& g, Value x, int64_t a, int64_t b) {
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i < g.rank(x); ++i) permutation.push_back(i == a ? b : i == b ? a : i);
  return a == b ? x : g.transpose(x, {.permutation = permutation});
}

struct Table {
  Value cosine;  // [points, bins]
  Value sine;
};

// Of the angles 2 pi j k / length, in the type of the data.
Table angles(GraphBuilder& g, Value points, Value bins, Value length, DType dtype) {
  Value turns = g.mod(g.mul(column(g, count_up(g, points)), count_up(g, bins)), length);
  Value angle = g.mul(g.div(g.cast(turns, {.to = kReal}), g.cast(length, {.to = kReal})),
                      real(g, 2 * std::numbers::pi));
  return {cast_to(g, g.cos(angle), dtype), cast_to(g, g.sin(angle), dtype)};
}

// The spectrum of a real signal is symmetric: every bin but the first and, of an even length, the last of its
// half stands for two. [points, 1]
Value symmetry(GraphBuilder& g, Value points, Value length, DType dtype) {
  Value twice = g.mul(column(g, count_up(g, points)), integer(g, 2));
  Value alone = g.equal(g.mod(twice, length), integer(g, 0));
  return g.select(alone, scalar(g, dtype, 1), scalar(g, dtype, 2));
}

}  // namespace

// A product with the matrix of roots of unity.
std::vector<Value> decompose_dft(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<DftAttrs>();
  bool halves_in = a.one_sided && a.inverse, halves_out = a.one_sided && !a.inverse;
  int64_t rank = g.rank(in[0]), axis = axis_of(g, a, in, rank), parts = parts_of(g, in[0]);
  DType dtype = g.dtype(in[0]);
  Value x = swap_axes(g, in[0], axis, rank - 2), size = as_scalar(g, size_of(g, x, rank - 2)), length = size;
  if (halves_in) length = g.mul(g.sub(size, integer(g, 1)), integer(g, 2));
  if (in.size() > 1 && !in[1].is_none()) length = as_scalar(g, in[1]);
  Value points = g.min(size, halves_in ? half_spectrum(g, length) : length);
  x = g.slice(x, int_list(g, {0}), g.reshape(points, int_list(g, {1})), int_list(g, {rank - 2}), {});
  Table table = angles(g, points, halves_out ? half_spectrum(g, length) : length, length, dtype);
  if (halves_in) {
    Value weight = symmetry(g, points, length, dtype);
    table = {g.mul(table.cosine, weight), g.mul(table.sine, weight)};
  }
  if (!a.inverse) table.sine = g.neg(table.sine);
  Value re = part(g, x, 0), im = parts == 2 ? part(g, x, 1) : Value();
  Value y_re = g.matmul(re, table.cosine), y_im = g.matmul(re, table.sine);
  if (parts == 2) {
    y_re = g.sub(y_re, g.matmul(im, table.sine));
    y_im = g.add(y_im, g.matmul(im, table.cosine));
  }
  Value last = int_list(g, {rank - 1});
  Value y = g.unsqueeze(y_re, last);
  if (!halves_in) y = g.concat({y, g.unsqueeze(y_im, last)}, {.axis = rank - 1});
  if (a.inverse) y = g.div(y, cast_to(g, length, dtype));
  return {swap_axes(g, y, axis, rank - 2)};
}

// Frames gathered from the signal, times the window, transformed.
std::vector<Value> decompose_stft(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  bool one_sided = node.as<StftAttrs>().one_sided;
  bool windowed = in.size() > 2 && !in[2].is_none();
  Value step = as_scalar(g, in[1]);
  Value length = as_scalar(g, in.size() > 3 ? in[3] : size_of(g, in[2], 0));
  Value room = g.sub(as_scalar(g, size_of(g, in[0], 1)), length);
  Value frames = g.add(g.div(room, step), integer(g, 1));
  Value starts = column(g, g.mul(count_up(g, frames), step));
  Value x = g.gather(in[0], g.add(starts, count_up(g, length)), {.axis = 1});
  if (windowed) x = g.mul(x, column(g, in[2]));
  bool real_input = parts_of(g, in[0]) == 1;
  Value y = g.dft(x, {}, {}, {.axis = 2, .one_sided = one_sided && real_input});
  if (one_sided && !real_input)
    y = g.slice(y, int_list(g, {0}), g.reshape(half_spectrum(g, length), int_list(g, {1})), int_list(g, {2}),
                {});
  return {y};
}

// A triangle per band, over bands equally wide on the mel scale m = 2595 log10(1 + f / 700).
std::vector<Value> decompose_mel_weight_matrix(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  Value bins = as_scalar(g, in[0]), length = as_scalar(g, in[1]);
  auto as_real = [&](Value v) { return cast_to(g, as_scalar(g, v), kReal); };
  auto mel = [&](Value hertz) {
    Value ratio = g.add(g.div(as_real(hertz), real(g, 700)), real(g, 1));
    return g.mul(g.log(ratio), real(g, 2595 / std::numbers::ln10));
  };
  Value low = mel(in[3]), edge_count = g.add(bins, integer(g, 2));
  Value step = g.div(g.sub(mel(in[4]), low), as_real(edge_count));
  Value mels = g.add(g.mul(g.cast(count_up(g, edge_count), {.to = kReal}), step), low);
  Value hertz = g.mul(g.sub(g.pow(real(g, 10), g.div(mels, real(g, 2595))), real(g, 1)), real(g, 700));
  Value edges = g.floor(g.div(g.mul(as_real(g.add(length, integer(g, 1))), hertz), as_real(in[2])));
  auto edge = [&](int64_t offset) {
    Value start = g.reshape(integer(g, offset), int_list(g, {1}));
    return g.slice(edges, start, g.add(start, g.reshape(bins, int_list(g, {1}))), int_list(g, {0}), {});
  };
  Value left = edge(0), centre = edge(1), right = edge(2);
  Value j = column(g, g.cast(count_up(g, half_spectrum(g, length)), {.to = kReal}));
  Value one = real(g, 1);
  Value rise = g.select(g.equal(left, centre), one, g.div(g.sub(j, left), g.max(g.sub(centre, left), one)));
  Value fall = g.div(g.sub(right, j), g.max(g.sub(right, centre), one));
  Value rises = g.logical_and(g.less_or_equal(left, j), g.less_or_equal(j, centre));
  Value falls = g.logical_and(g.less_or_equal(centre, j), g.less(j, right));
  Value weights = g.select(falls, fall, g.select(rises, rise, real(g, 0)));
  return {cast_to(g, weights, node.as<MelWeightMatrixAttrs>().to)};
}

}  // namespace ingot
