#include <algorithm>
#include <numeric>

#include "tests/devices/random_pool.h"

namespace ingot::devices {
namespace {

std::optional<RandomPool::Entry> pick_ranked(RandomPool& p, int64_t least_rank) {
  return p.pick([&](Value v) { return p.g.rank(v) >= least_rank && p.g.dtype(v) != DType::boolean; });
}

bool transpose(RandomPool& p) {
  const auto x = pick_ranked(p, 2);
  if (!x) return false;
  std::vector<int64_t> permutation(static_cast<size_t>(p.g.rank(x->value)));
  std::iota(permutation.begin(), permutation.end(), 0);
  for (size_t i = permutation.size(); i > 1; --i)
    std::swap(permutation[i - 1], permutation[static_cast<size_t>(p.random.below(static_cast<int64_t>(i)))]);
  p.offer(p.g.transpose(x->value, {.permutation = permutation}), x->exact);
  return true;
}

// Joins two neighbouring axes, or splits one.
bool reshape(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  const Shape shape = p.shape(x->value);
  const int64_t axis = p.any_axis(x->value);
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < axis; ++i) wanted.push_back(0);
  const bool joins = axis + 1 < p.g.rank(x->value) && p.random.chance(0.6);
  if (joins) {
    wanted.push_back(-1);
  } else {
    const int64_t size = shape[static_cast<size_t>(axis)];
    if (!p.is_known(x->value, axis) || size < 2) return false;
    const int64_t part = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
    wanted.insert(wanted.end(), {size / part, part});
  }
  for (int64_t i = axis + (joins ? 2 : 1); i < p.g.rank(x->value); ++i) {
    if (!p.is_known(x->value, i)) return false;
    wanted.push_back(shape[static_cast<size_t>(i)]);
  }
  p.offer(p.g.reshape(x->value, p.ints(wanted)), x->exact);
  return true;
}

bool unsqueeze(RandomPool& p) {
  const auto x = pick_ranked(p, 0);
  if (!x || p.g.rank(x->value) > 4) return false;
  p.offer(p.g.unsqueeze(x->value, p.ints({p.random.between(0, p.g.rank(x->value))})), x->exact);
  return true;
}

bool slice(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  const int64_t axis = p.any_axis(x->value), size = p.shape(x->value)[static_cast<size_t>(axis)];
  int64_t start = 0, end = INT64_MAX, step = p.random.between(1, 2);
  if (p.random.chance(0.25)) {
    start = -1, end = INT64_MIN, step = -step;
  } else if (p.is_known(x->value, axis)) {
    start = p.random.below(size);
    end = p.random.between(start + 1, size);
  }
  p.offer(p.g.slice(x->value, p.ints({start}), p.ints({end}), p.ints({axis}), p.ints({step})), x->exact);
  return true;
}

bool same_but(const Dims& a, const Dims& b, size_t axis) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (i != axis && !(a[i] == b[i])) return false;
  return true;
}

bool concat(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  const auto axis = static_cast<size_t>(p.any_axis(x->value));
  const Dims dims = p.g.dims(x->value);
  bool exact = x->exact;
  std::vector<Value> parts = {x->value};
  for (int64_t more = p.random.between(1, 2); more > 0; --more) {
    const auto y = p.pick(
        [&](Value v) { return p.g.dtype(v) == p.g.dtype(x->value) && same_but(dims, p.g.dims(v), axis); });
    parts.push_back(y->value);
    exact = exact && y->exact;
  }
  p.offer(p.g.concat(parts, {.axis = static_cast<int64_t>(axis)}), exact);
  return true;
}

bool split(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  const auto axis = p.known_axis(x->value);
  if (!axis) return false;
  const int64_t size = p.shape(x->value)[static_cast<size_t>(*axis)];
  if (size < 2) return false;
  const int64_t first = p.random.between(1, size - 1);
  const auto parts = p.g.split(x->value, p.ints({first, size - first}), 2, {.axis = *axis});
  for (Value part : parts) p.offer(part, x->exact);
  return true;
}

bool pad(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  std::vector<int64_t> pads(2 * static_cast<size_t>(p.g.rank(x->value)), 0);
  for (int changes = 2; changes > 0; --changes)
    pads[static_cast<size_t>(p.random.below(static_cast<int64_t>(pads.size())))] = p.random.between(1, 3);
  const PadMode mode = p.random.chance(0.7) ? PadMode::constant : PadMode::edge;
  p.offer(p.g.pad(x->value, p.ints(pads), {}, {}, {.mode = mode}), x->exact);
  return true;
}

bool gather(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  const auto axis = p.known_axis(x->value);
  if (!axis) return false;
  const auto size = static_cast<double>(p.shape(x->value)[static_cast<size_t>(*axis)]);
  const Shape places = p.random.chance(0.3) ? Shape{} : Shape{p.random.between(1, 6)};
  p.offer(p.g.gather(x->value, p.constant(DType::i64, places, {-size, size - 1}), {.axis = *axis}), x->exact);
  return true;
}

bool repeat(RandomPool& p) {
  const auto x = pick_ranked(p, 1);
  if (!x) return false;
  std::vector<int64_t> times(static_cast<size_t>(p.g.rank(x->value)), 1);
  times[static_cast<size_t>(p.any_axis(x->value))] = p.random.between(2, 3);
  p.offer(p.g.tile(x->value, p.ints(times)), x->exact);
  return true;
}

bool add_first_axis(RandomPool& p) {
  const auto x = pick_ranked(p, 0);
  if (!x || p.g.rank(x->value) > 4) return false;
  std::vector<int64_t> shape(static_cast<size_t>(p.g.rank(x->value)) + 1, 1);
  shape[0] = p.random.between(2, 3);
  p.offer(p.g.broadcast_to(x->value, p.ints(shape)), x->exact);
  return true;
}

}  // namespace

std::vector<Piece> movement_pieces() {
  return {transpose, transpose, reshape, reshape, unsqueeze, slice,  slice,
          concat,    concat,    split,   pad,     gather,    repeat, add_first_axis};
}

}  // namespace ingot::devices
