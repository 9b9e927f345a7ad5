// Integers, conditions and ops that jump: only on values that every device has exactly.
#include "ir/small_constants.h"
#include "tests/devices/random_pool.h"

namespace ingot::devices {
namespace {

std::optional<RandomPool::Entry> pick_integers(RandomPool& p, int64_t least_rank = 0) {
  return p.pick([&](Value v) { return is_integer(p.g.dtype(v)) && p.g.rank(v) >= least_rank; });
}

Value small(RandomPool& p, Value v) { return p.g.mod(v, scalar_like(p.g, v, 97)); }

bool integer_arithmetic(RandomPool& p) {
  const auto a = pick_integers(p);
  if (!a) return false;
  const Dims dims = p.g.dims(a->value);
  const auto b = p.pick([&](Value v) { return p.g.dtype(v) == p.g.dtype(a->value) && p.g.dims(v) == dims; });
  GraphBuilder& g = p.g;
  const Value x = a->value, y = b->value;
  switch (p.random.below(6)) {
    case 0: p.offer(small(p, g.mul(x, y)), true); break;
    case 1: p.offer(g.div(x, y), true); break;
    case 2: p.offer(g.max(x, g.neg(y)), true); break;
    case 3: p.offer(g.select(g.less(x, y), x, g.abs(y)), true); break;
    case 4: p.offer(g.bitwise_and(x, y), true); break;
    default: p.offer(small(p, g.add(x, y)), true); break;
  }
  return true;
}

bool integer_reduction(RandomPool& p) {
  const auto x = pick_integers(p, 1);
  if (!x) return false;
  const Value axes = p.ints({p.any_axis(x->value)});
  p.offer(p.random.chance(0.5) ? small(p, p.g.reduce_sum(x->value, axes)) : p.g.reduce_max(x->value, axes),
          true);
  return true;
}

bool integers_to_real(RandomPool& p) {
  const auto x = pick_integers(p);
  if (!x) return false;
  p.offer(p.g.mul(p.g.cast(x->value, {.to = p.real}), scalar(p.g, p.real, 0.03125)));
  return true;
}

bool real_to_integers(RandomPool& p) {
  const auto x = p.pick_exact(p.real);
  if (!x) return false;
  Value rounded = x->value;
  if (p.random.chance(0.5)) rounded = p.random.chance(0.5) ? p.g.floor(rounded) : p.g.round(rounded);
  p.offer(p.g.cast(rounded, {.to = p.random.chance(0.5) ? DType::i64 : DType::i32}), true);
  return true;
}

bool place_of_the_largest(RandomPool& p) {
  const auto x = p.pick_exact(p.real);
  if (!x || p.g.rank(x->value) == 0) return false;
  const int64_t axis = p.any_axis(x->value);
  p.offer(
      p.random.chance(0.5) ? p.g.arg_max(x->value, {.axis = axis}) : p.g.arg_min(x->value, {.axis = axis}),
      true);
  return true;
}

bool largest_few(RandomPool& p) {
  const auto x = p.pick_exact(p.real);
  if (!x || p.g.rank(x->value) == 0) return false;
  const auto axis = p.known_axis(x->value);
  if (!axis) return false;
  const int64_t k = p.random.between(1, p.shape(x->value)[static_cast<size_t>(*axis)]);
  const auto [values, places] = p.g.top_k(x->value, p.ints({k}), {.axis = *axis});
  p.offer(values, true);
  p.offer(places, true);
  return true;
}

bool rows_of_a_table(RandomPool& p) {
  const auto x = pick_integers(p);
  if (!x) return false;
  const int64_t rows = p.random.between(2, 20);
  const Value within = p.g.mod(x->value, scalar_like(p.g, x->value, static_cast<double>(rows)));
  p.offer(p.g.gather(p.constant(p.real, {rows, p.size()}, {-1, 1}), within));
  return true;
}

// Quantised and back, or with a convolution or product between.
bool quantised(RandomPool& p) {
  const auto x = p.pick_exact(p.real);
  if (!x || p.real != DType::f32) return false;
  const Value scale = scalar(p.g, DType::f32, 0.0625), zero = scalar(p.g, DType::u8, 128);
  const Value q = p.g.quantize(x->value, scale, zero);
  const Value real = p.g.dequantize(q, scale, zero);
  const int64_t rank = p.g.rank(x->value);
  if (rank < 2 || !p.is_known(x->value, rank - 1)) {
    p.offer(real, true);
    return true;
  }
  const int64_t in = p.shape(x->value).back(), out = p.size();
  const Value w = p.constant(DType::i8, {in, out}, {-127, 127});
  const Value w_scale = p.constant(DType::f32, {out}, {0.002, 0.01});
  p.offer(p.g.matmul(real, p.g.dequantize(w, w_scale, {}, {.axis = 1})));
  return true;
}

}  // namespace

std::vector<Piece> exact_pieces() {
  return {integer_arithmetic,   integer_arithmetic, integer_reduction, integers_to_real, real_to_integers,
          place_of_the_largest, largest_few,        rows_of_a_table,   quantised};
}

}  // namespace ingot::devices
