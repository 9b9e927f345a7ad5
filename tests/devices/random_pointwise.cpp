#include "ir/small_constants.h"
#include "tests/devices/random_pool.h"

namespace ingot::devices {
namespace {

bool unary(RandomPool& p) {
  const auto x = p.pick_real();
  if (!x) return false;
  GraphBuilder& g = p.g;
  const Value v = x->value;
  switch (p.random.below(16)) {
    case 0: p.offer(g.sigmoid(v)); break;
    case 1: p.offer(g.tanh(v)); break;
    case 2: p.offer(g.gelu(v, {.form = p.random.chance(0.5) ? GeluForm::erf : GeluForm::tanh})); break;
    case 3: p.offer(g.swish(v)); break;
    case 4: p.offer(g.hard_swish(v)); break;
    case 5: p.offer(g.hard_sigmoid(v)); break;
    case 6: p.offer(g.softplus(v)); break;
    case 7: p.offer(g.exp(g.tanh(v))); break;
    case 8: p.offer(g.sqrt(g.add(g.abs(v), scalar_like(g, v, 0.5)))); break;
    case 9: p.offer(g.erf(v)); break;
    case 10: p.offer(g.elu(v, {.alpha = 0.7})); break;
    case 11: p.offer(g.leaky_relu(v, {.alpha = 0.125})); break;
    case 12: p.offer(g.sin(v)); break;
    case 13: p.offer(g.mish(v)); break;
    case 14: p.offer(g.log(g.add(g.abs(v), scalar_like(g, v, 1)))); break;
    default: p.offer(g.reciprocal(g.add(g.mul(v, v), scalar_like(g, v, 1)))); break;
  }
  return true;
}

bool exact_unary(RandomPool& p) {
  const auto x = p.pick_real();
  if (!x) return false;
  switch (p.random.below(4)) {
    case 0: p.offer(p.g.abs(x->value), x->exact); break;
    case 1: p.offer(p.g.neg(x->value), x->exact); break;
    case 2:
      p.offer(p.g.clamp(x->value, scalar_like(p.g, x->value, -1), scalar_like(p.g, x->value, 1.5)), x->exact);
      break;
    default: p.offer(p.g.relu(x->value), x->exact); break;
  }
  return true;
}

Value combine(RandomPool& p, Value a, Value b) {
  GraphBuilder& g = p.g;
  switch (p.random.below(6)) {
    case 0: return g.sub(a, b);
    case 1: return g.mul(a, b);
    case 2: return g.max(a, b);
    case 3: return g.div(a, g.add(g.abs(b), scalar_like(g, b, 1)));
    case 4: return g.min(a, b);
    default: return g.add(a, b);
  }
}

bool broadcasts(const Dims& a, const Dims& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const Dim &x = a[a.size() - i], &y = b[b.size() - i];
    if (!(x == y) && !(x == Dim(1)) && !(y == Dim(1))) return false;
  }
  return true;
}

// With anything whose shape fits: residuals, and what a reduction left.
bool binary(RandomPool& p) {
  const auto a = p.pick_real();
  if (!a) return false;
  const Dims dims = p.g.dims(a->value);
  const auto b = p.pick(
      [&](Value v) { return p.g.dtype(v) == p.real && !(v == a->value) && broadcasts(dims, p.g.dims(v)); });
  if (!b) return false;
  p.offer(p.random.chance(0.5) ? combine(p, a->value, b->value) : combine(p, b->value, a->value));
  return true;
}

// With a constant: one number, one per channel, one per column, or any mixture.
bool with_constant(RandomPool& p) {
  const auto x = p.pick_real();
  if (!x) return false;
  Shape shape = p.shape(x->value);
  for (int64_t axis = 0; axis < p.g.rank(x->value); ++axis)
    if (!p.is_known(x->value, axis) || p.random.chance(0.5)) shape[static_cast<size_t>(axis)] = 1;
  while (!shape.empty() && shape[0] == 1 && p.random.chance(0.6)) shape.erase(shape.begin());
  p.offer(combine(p, x->value, p.constant(p.real, shape, {-1, 1})));
  return true;
}

bool chosen(RandomPool& p) {
  const auto a = p.pick_exact(p.real), b = p.pick_real();
  if (!a || !b) return false;
  if (!broadcasts(p.g.dims(a->value), p.g.dims(b->value))) return false;
  const Value condition = p.g.less(a->value, scalar_like(p.g, a->value, 0.25));
  p.offer(p.g.select(condition, b->value,
                     p.random.chance(0.5) ? p.g.neg(b->value) : scalar_like(p.g, b->value, 0.5)));
  return true;
}

// Through a smaller type and back. Exact values only: a rounding that falls the other way is no fault.
bool cast_there_and_back(RandomPool& p) {
  const auto x = p.pick_exact(p.real);
  if (!x || p.real != DType::f32) return false;
  const Value small = p.g.cast(x->value, {.to = p.random.chance(0.5) ? DType::f16 : DType::bf16});
  p.offer(p.g.cast(small, {.to = p.real}), true);
  return true;
}

bool centred(RandomPool& p) {
  const auto x = p.pick_real(1);
  if (!x) return false;
  const Value mean = p.g.reduce_mean(x->value, p.ints({p.any_axis(x->value)}));
  p.offer(p.g.sub(x->value, mean));
  return true;
}

}  // namespace

std::vector<Piece> pointwise_pieces() {
  return {unary, unary, exact_unary, binary, binary, with_constant, chosen, cast_there_and_back, centred};
}

}  // namespace ingot::devices
