#include <bit>
#include <cmath>

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/numbers.h"
#include "device/cpu/routines/quantize_rows.h"
#include "device/cpu/routines/scale_plan.h"
#include "device/cpu/routines/table.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kPiece = 8 << 10;  // elements

const View& operand_or_absent(const RoutineCall& call, size_t i) {
  return has(call, i) ? call.in[i] : kAbsent;
}

bool is_small_integer(DType dtype) {
  return is_integer(dtype) && (bit_width(dtype) == 8 || bit_width(dtype) == 16);
}

void quantize(const RoutineCall& call) {
  const auto& a = call.node.as<QuantizeAttrs>();
  const ScaledOperands all = {call.in[0], call.out[0], call.in[1], operand_or_absent(call, 2),
                              a.axis,     a.block_size};
  all.each_part([&](const RowPlan<4>& plan, const ScaledOperands& part) {
    with_small_integer(part.out.dtype, [&](auto q) {
      using Q = decltype(q);
      const Q none = 0, *zero = is_absent(part.zero) ? &none : elements<const Q>(part.zero);
      for_each_piece(plan, kPiece, call.pool, [&](const std::array<int64_t, 4>& at, int64_t count) {
        quantize_row<Q>({elements<const float>(part.x) + at[0], plan.step(0)},
                        {elements<const float>(part.scale) + at[2], plan.step(2)},
                        {zero + at[3], plan.step(3)}, {elements<Q>(part.out) + at[1], plan.step(1)}, count);
      });
    });
  });
}

template <class Q>
void dequantize_as(const RoutineCall& call, const ScaledOperands& part, const RowPlan<4>& plan) {
  const Q none = 0, *zero = is_absent(part.zero) ? &none : elements<const Q>(part.zero);
  for_each_piece(plan, kPiece, call.pool, [&](const std::array<int64_t, 4>& at, int64_t count) {
    dequantize_row<Q>({elements<const Q>(part.x) + at[0], plan.step(0)},
                      {elements<const float>(part.scale) + at[2], plan.step(2)}, {zero + at[3], plan.step(3)},
                      {elements<float>(part.out) + at[1], plan.step(1)}, count);
  });
}

void dequantize(const RoutineCall& call) {
  const auto& a = call.node.as<DequantizeAttrs>();
  const ScaledOperands all = {call.in[0], call.out[0], call.in[1], operand_or_absent(call, 2),
                              a.axis,     a.block_size};
  all.each_part([&](const RowPlan<4>& plan, const ScaledOperands& part) {
    if (part.x.dtype == DType::i32) return dequantize_as<int32_t>(call, part, plan);
    with_small_integer(part.x.dtype, [&](auto q) { dequantize_as<decltype(q)>(call, part, plan); });
  });
}

// One range per piece, so that the whole does not depend on who found which.
constexpr int64_t kMostPieces = 64;

RowPlan<2> whole_plan(const RoutineCall& call) {
  return {call.in[0].rank, call.in[0].sizes, {call.in[0].strides, call.out[0].strides}};
}

Range find_range(const RoutineCall& call, const RowPlan<2>& plan) {
  std::array<Range, kMostPieces> ranges = {};
  const int64_t rows = plan.rows(), length = plan.length();
  const bool by_rows = rows >= kMostPieces;  // else each row is cut
  const int64_t per_row = by_rows ? 1 : kMostPieces / std::max<int64_t>(rows, 1);
  const int64_t piece = (length + per_row - 1) / per_row, units = rows * per_row;
  const int64_t grain = (units + kMostPieces - 1) / kMostPieces;
  auto units_of = [&](int64_t begin, int64_t end, int) {
    Range& range = ranges[static_cast<size_t>(begin / grain)];
    for (int64_t u = begin; u < end; ++u) {
      const int64_t first = u % per_row * piece, count = std::min(piece, length - first);
      if (count <= 0) continue;
      const float* x =
          elements<const float>(call.in[0]) + plan.start(u / per_row).at[0] + first * plan.step(0);
      range.add(row_range({x, plan.step(0)}, count));
    }
  };
  if (rows * length < kPiece)
    for (int64_t u = 0; u < units; u += grain) units_of(u, std::min(u + grain, units), 0);
  else
    call.pool.parallel_for(units, grain, units_of);
  Range all;
  for (const Range& r : ranges) all.add(r);
  return all;
}

// Each op of the decomposition rounds once.
void dynamic_quantize(const RoutineCall& call) {
  const RowPlan<2> plan = whole_plan(call);
  const Range range = call.in[0].count() > 0 ? find_range(call, plan) : Range{};
  const float extent = range.high - range.low, scale = extent == 0 ? 1 : extent / 255;
  const float middle = 0 - range.low / scale;
  const auto zero =
      static_cast<uint8_t>(std::nearbyint(std::isnan(middle) ? 0 : std::clamp(middle, 0.0f, 255.0f)));
  if (!is_absent(call.out[1])) *elements<float>(call.out[1]) = scale;
  if (!is_absent(call.out[2])) *elements<uint8_t>(call.out[2]) = zero;
  if (is_absent(call.out[0]) || call.in[0].count() == 0) return;
  for_each_piece(plan, kPiece, call.pool, [&](const std::array<int64_t, 2>& at, int64_t count) {
    quantize_row<uint8_t>({elements<const float>(call.in[0]) + at[0], plan.step(0)}, {&scale, 0}, {&zero, 0},
                          {elements<uint8_t>(call.out[0]) + at[1], plan.step(1)}, count);
  });
}

// A block adds an axis to the walk.
bool fits(const RoutineCall& call, int64_t block) {
  return moves_cells(call) && call.in[1].dtype == DType::f32 && (block == 0 || call.in[0].rank < kMaxRank);
}

bool supports_quantize(const RoutineCall& call) {
  const auto& a = call.node.as<QuantizeAttrs>();
  return fits(call, a.block_size) && call.in[0].dtype == DType::f32 && a.precision == DType::f32 &&
         is_small_integer(call.out[0].dtype);
}

bool supports_dequantize(const RoutineCall& call) {
  const DType from = call.in[0].dtype;
  return fits(call, call.node.as<DequantizeAttrs>().block_size) && call.out[0].dtype == DType::f32 &&
         (is_small_integer(from) || from == DType::i32);
}

bool supports_dynamic(const RoutineCall& call) { return moves_cells(call) && call.in[0].dtype == DType::f32; }

}  // namespace

void add_quantize_routines(RoutineTable& t) {
  t[Op::Quantize] = {.supports = supports_quantize, .run = quantize};
  t[Op::Dequantize] = {.supports = supports_dequantize, .run = dequantize};
  t[Op::DynamicQuantize] = {.supports = supports_dynamic, .run = dynamic_quantize};
}

}  // namespace ingot::cpu
