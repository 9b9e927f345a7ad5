// Reductions, norms, products and attention.
#include "tests/devices/random_pool.h"

namespace ingot::devices {
namespace {

bool reduction(RandomPool& p) {
  const auto x = p.pick_real(1);
  if (!x) return false;
  std::vector<int64_t> axes = {p.any_axis(x->value)};
  if (const int64_t other = p.any_axis(x->value); other != axes[0] && p.random.chance(0.5))
    axes.push_back(other);
  const bool keep = p.random.chance(0.6);
  const Value at = p.ints(axes);
  GraphBuilder& g = p.g;
  switch (p.random.below(5)) {
    case 0: p.offer(g.reduce_sum(x->value, at, {.keep_dims = keep})); break;
    case 1: p.offer(g.reduce_max(x->value, at, {.keep_dims = keep}), x->exact); break;
    case 2: p.offer(g.reduce_min(x->value, at, {.keep_dims = keep}), x->exact); break;
    case 3: p.offer(g.reduce_mean(g.mul(x->value, x->value), at, {.keep_dims = keep})); break;
    default: p.offer(g.reduce_mean(x->value, at, {.keep_dims = keep})); break;
  }
  return true;
}

bool softmax(RandomPool& p) {
  const auto x = p.pick_real(1);
  if (!x) return false;
  const int64_t axis = p.random.chance(0.7) ? -1 : p.any_axis(x->value);
  p.offer(p.random.chance(0.8) ? p.g.softmax(x->value, {.axis = axis})
                               : p.g.log_softmax(x->value, {.axis = axis}));
  return true;
}

bool row_norm(RandomPool& p) {
  const auto x = p.pick_real(1);
  if (!x || !p.is_known(x->value, p.g.rank(x->value) - 1)) return false;
  const Shape row = {p.shape(x->value).back()};
  const Value scale = p.constant(p.real, row, {0.5, 1.5});
  if (p.random.chance(0.3)) {
    p.offer(p.g.rms_norm(x->value, scale, {.epsilon = 0.01})[0]);
  } else {
    const Value bias = p.random.chance(0.8) ? p.constant(p.real, row, {-1, 1}) : Value();
    p.offer(p.g.layer_norm(x->value, scale, bias, {.epsilon = 0.01})[0]);
  }
  return true;
}

// x @ w, with a bias and an activation most of the time.
bool linear(RandomPool& p) {
  const auto x = p.pick_real(2);
  if (!x || !p.is_known(x->value, p.g.rank(x->value) - 1)) return false;
  const int64_t in = p.shape(x->value).back(), out = p.size();
  Value y = p.g.matmul(x->value, p.weight({in, out}, in));
  if (p.random.chance(0.7)) y = p.g.add(y, p.constant(p.real, {out}, {-1, 1}));
  if (p.random.chance(0.4)) y = p.random.chance(0.5) ? p.g.relu(y) : p.g.gelu(y);
  p.offer(y);
  return true;
}

bool gemm(RandomPool& p) {
  const auto x = p.pick([&](Value v) { return p.g.dtype(v) == p.real && p.g.rank(v) == 2; });
  if (!x) return false;
  const bool transposed = p.random.chance(0.3);
  if (!p.is_known(x->value, transposed ? 0 : 1)) return false;
  const int64_t in = p.shape(x->value)[transposed ? 0 : 1], out = p.size();
  const bool turned = p.random.chance(0.5);
  const Value w = p.weight(turned ? Shape{out, in} : Shape{in, out}, in);
  const Value c = p.random.chance(0.7) ? p.constant(p.real, {out}, {-1, 1}) : Value();
  p.offer(p.g.gemm(x->value, w, c, {.alpha = 0.5, .transpose_a = transposed, .transpose_b = turned}));
  return true;
}

// x @ transpose(x), as scores of attention are.
bool scores(RandomPool& p) {
  const auto x = p.pick_real(2);
  if (!x) return false;
  std::vector<int64_t> permutation;
  for (int64_t axis = 0; axis < p.g.rank(x->value); ++axis) permutation.push_back(axis);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  const Value product = p.g.matmul(x->value, p.g.transpose(x->value, {.permutation = permutation}));
  const Value weights = p.g.softmax(p.g.mul(product, p.constant(p.real, {}, {0.1, 0.3})));
  p.offer(p.random.chance(0.7) ? p.g.matmul(weights, x->value) : product);
  return true;
}

// [batch, tokens, size] through heads and back.
bool attention(RandomPool& p) {
  const auto x =
      p.pick([&](Value v) { return p.g.dtype(v) == p.real && p.g.rank(v) == 3 && p.is_known(v, 2); });
  if (!x) return false;
  GraphBuilder& g = p.g;
  const int64_t size = p.shape(x->value)[2], heads = p.random.between(1, 3), head = p.random.between(2, 16);
  auto project = [&] {
    const Value y = g.matmul(x->value, p.weight({size, heads * head}, size));
    return g.transpose(g.reshape(y, p.ints({0, 0, heads, head})), {.permutation = {0, 2, 1, 3}});
  };
  const Value q = project(), k = project(), v = project();
  const Value mixed = g.attention(q, k, v, {}, {}, {}, {}, {.causal = p.random.chance(0.4)})[0];
  p.offer(g.reshape(g.transpose(mixed, {.permutation = {0, 2, 1, 3}}), p.ints({0, 0, heads * head})));
  return true;
}

bool running_sum(RandomPool& p) {
  const auto x = p.pick_real(1);
  if (!x) return false;
  p.offer(p.g.cum_sum(x->value, p.g.constant(Tensor::of<int64_t>({}, {p.any_axis(x->value)})),
                      {.reverse = p.random.chance(0.3)}));
  return true;
}

}  // namespace

std::vector<Piece> layer_pieces() {
  return {reduction, reduction, softmax, row_norm, linear, linear, gemm, scores, attention, running_sum};
}

}  // namespace ingot::devices
