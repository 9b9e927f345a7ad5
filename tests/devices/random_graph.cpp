#include "tests/devices/random_graph.h"

#include "tests/devices/random_pool.h"

namespace ingot::devices {
namespace {

// Images, token rows, matrices or anything else, with or without sizes that only a run tells.
void add_inputs(RandomPool& p) {
  const bool dynamic = p.random.chance(0.35);
  const Dim batch = dynamic && p.random.chance(0.7) ? p.symbol("batch") : Dim(p.random.between(1, 3));
  const Range range = {-2, 2};
  switch (p.random.below(5)) {
    case 0:
    case 1: {
      const Dim height = dynamic && p.random.chance(0.3) ? p.symbol("height") : Dim(p.size());
      p.input(p.real, {batch, p.size(), height, p.size()}, range);
      break;
    }
    case 2: {
      const Dim length = dynamic ? p.symbol("length") : Dim(p.size());
      p.input(p.real, {batch, length, p.size()}, range);
      if (p.random.chance(0.5)) p.input(p.real, {batch, length, p.size()}, range);
      break;
    }
    case 3: p.input(p.real, {batch, p.size()}, range); break;
    default: {
      Dims dims;
      for (int64_t rank = p.random.between(0, 5); rank > 0; --rank)
        dims.emplace_back(std::min<int64_t>(p.size(), 12));
      p.input(p.real, dims, range);
    }
  }
  if (p.random.chance(0.3))
    p.input(p.random.chance(0.5) ? DType::i64 : DType::i32, {batch, p.size()}, {-9, 9});
}

void append(std::vector<Piece>& to, const std::vector<Piece>& pieces, int times) {
  for (; times > 0; --times) to.insert(to.end(), pieces.begin(), pieces.end());
}

const std::vector<Piece>& all_pieces() {
  static const std::vector<Piece> all = [] {
    std::vector<Piece> pieces;
    append(pieces, pointwise_pieces(), 6);
    append(pieces, movement_pieces(), 2);
    append(pieces, layer_pieces(), 3);
    append(pieces, image_pieces(), 4);
    append(pieces, exact_pieces(), 2);
    return pieces;
  }();
  return all;
}

}  // namespace

TestGraph random_graph(uint64_t seed, const RandomLimits& limits) {
  RandomPool pool(seed, limits);
  add_inputs(pool);
  const int64_t wanted = pool.random.between(3, 25);
  for (int64_t made = 0, tried = 0; made < wanted && tried < 100; ++tried)
    if (pool.random.pick(all_pieces())(pool)) ++made;
  return std::move(pool).finish();
}

}  // namespace ingot::devices
