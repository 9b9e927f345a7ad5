#include "device/cpu/routines/mapped_copy.h"
#include "device/cpu/routines/table.h"

namespace ingot::cpu {
namespace {

// Where position `at`, which may lie outside [0, size), reads from.
int64_t padded_source(PadMode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case PadMode::constant: return AxisMaps::kNowhere;
    case PadMode::edge: return at < 0 ? 0 : size - 1;
    case PadMode::wrap: return (at % size + size) % size;
    case PadMode::reflect: break;
  }
  const int64_t period = std::max<int64_t>(2 * (size - 1), 1), phase = (at % period + period) % period;
  return phase < size ? phase : period - phase;
}

int64_t map_bytes(const RoutineCall& call) { return AxisMaps::bytes(call.out[0]); }

void pad(const RoutineCall& call) {
  const View &x = call.in[0], &pads = call.in[1], &out = call.out[0];
  const PadMode mode = call.node.as<PadAttrs>().mode;
  if (has(call, 2) && call.in[2].count() != 1)
    refuse(call, "one value to pad with", fmt::format("{}", call.in[2].count()));
  AxisMaps maps(x, out, call.scratch);
  for (int64_t k = 0; k < pads.count() / 2; ++k) {
    const auto axis = static_cast<size_t>(has(call, 3) ? normal_axis(integer_at(call.in[3], k), x.rank) : k);
    const int64_t size = x.sizes[axis], before = integer_at(pads, k);
    const std::span<int64_t> map = maps.axis(axis);
    if (size == 0 && !map.empty() && mode != PadMode::constant)
      refuse(call, fmt::format("something to pad from along axis {}", axis), "size 0");
    for (size_t i = 0; i < map.size(); ++i) {
      const int64_t at = padded_source(mode, static_cast<int64_t>(i) - before, size);
      map[i] = at == AxisMaps::kNowhere ? at : at * x.strides[axis];
    }
  }
  maps.copy(has(call, 2) ? call.in[2].data : nullptr, call.pool);
}

void tile(const RoutineCall& call) {
  const View& x = call.in[0];
  AxisMaps maps(x, call.out[0], call.scratch);
  for (size_t axis = 0; axis < static_cast<size_t>(x.rank); ++axis) {
    const std::span<int64_t> map = maps.axis(axis);
    for (auto i = static_cast<size_t>(x.sizes[axis]); i < map.size(); ++i)
      map[i] = map[i - static_cast<size_t>(x.sizes[axis])];
  }
  maps.copy(nullptr, call.pool);
}

}  // namespace

void add_pad_routines(RoutineTable& t) {
  t[Op::Pad] = {.supports = moves_cells, .scratch_bytes = map_bytes, .run = pad};
  t[Op::Tile] = {.supports = moves_cells, .scratch_bytes = map_bytes, .run = tile};
}

}  // namespace ingot::cpu
