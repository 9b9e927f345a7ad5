#include "device/cpu/routines/recurrent.h"
#include "ir/recurrent.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kRowsWorthPacking = 4;
constexpr int64_t kSegmentFloats = 1 << 20;  // of products with the inputs: what fits in the caches, about
constexpr int64_t kMostBlocks = 8;           // of samples, per direction

bool last_axis_dense(const View& view) {
  const auto last = static_cast<size_t>(view.rank - 1);
  return view.strides[last] == 1 || view.sizes[last] <= 1;
}

int64_t packed_size(int64_t rows, int64_t depth) {
  return Weights{.rows = rows, .depth = depth}.packed_size();
}

template <class A>
Direction direction_of(const RoutineCall& call) {
  return call.node.as<A>().direction;
}

Direction read_attributes(RecurrentLayer& layer, const RoutineCall& call) {
  switch (call.node.op) {
    case Op::Lstm: layer.kind = RecurrentKind::lstm; return direction_of<LstmAttrs>(call);
    case Op::Gru:
      layer.kind = RecurrentKind::gru;
      layer.linear_before_reset = call.node.as<GruAttrs>().linear_before_reset;
      return direction_of<GruAttrs>(call);
    default: return direction_of<RnnAttrs>(call);
  }
}

}  // namespace

RecurrentLayer::RecurrentLayer(const RoutineCall& call) {
  const View &x = call.in[0], &w = call.in[1], &r = call.in[2];
  const Direction direction = read_attributes(*this, call);
  reversed = direction == Direction::reverse;
  directions = static_cast<int64_t>(direction_count(direction));
  steps = x.sizes[0], batch = x.sizes[1], inputs = x.sizes[2], hidden = r.sizes[2];
  gates = kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
  const bool many_rows = steps * batch >= kRowsWorthPacking;
  packs_w = many_rows || !last_axis_dense(w);
  packs_r = many_rows || !last_axis_dense(r);
  segment = std::clamp<int64_t>(kSegmentFloats / std::max<int64_t>(directions * batch * width(), 1), 1,
                                std::max<int64_t>(steps, 1));
  block = std::max<int64_t>((batch + kMostBlocks - 1) / kMostBlocks, 4);

  total = 0;
  auto take = [this](int64_t floats) { return std::exchange(total, total + (floats + 15) / 16 * 16); };
  if (!last_axis_dense(x)) x_at = take(steps * batch * inputs);
  w_size = packed_size(width(), inputs);
  r_size = kind == RecurrentKind::gru ? packed_size(2 * hidden, hidden) + packed_size(hidden, hidden)
                                      : packed_size(width(), hidden);
  w_at = take(packs_w ? directions * w_size : 0);
  r_at = take(packs_r ? directions * r_size : 0);
  bias_at = take(directions * 2 * width());
  peephole_at = take(directions * 3 * hidden);
  projected_at = take(directions * segment * batch * width());
  gates_at = take(directions * batch * width());
  reset_at = take(directions * batch * hidden);
  h_at = take(directions * batch * hidden);
  c_at = take(directions * batch * hidden);
}

}  // namespace ingot::cpu
