#include "device/cpu/routines/operands.h"

#include "device/cpu/routines/cells.h"
#include "ir/numeric.h"
#include "ir/op_info.h"

namespace ingot::cpu {

void refuse(const RoutineCall& call, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = fmt::format("op {}", to_string(call.node.op)),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Check the values of the inputs: this op does not accept what they lead to."});
}

namespace {

const std::byte* address(const View& view, int64_t i) {
  return view.data + (view.rank == 0 ? 0 : i * view.strides[0]) * (bit_width(view.dtype) / 8);
}

}  // namespace

int64_t integer_at(const View& view, int64_t i) {
  int64_t value;
  decode_to_i64(view.dtype, address(view, i), 1, &value);
  return value;
}

double real_at(const View& view, int64_t i) {
  double value;
  decode_to_f64(view.dtype, address(view, i), 1, &value);
  return value;
}

bool moves_cells(const RoutineCall& call) {
  auto fits = [](const View& v) { return is_absent(v) || (is_cell(v.dtype) && v.rank <= kMaxRank); };
  return std::ranges::all_of(call.in, fits) && std::ranges::all_of(call.out, fits);
}

View part(View view, size_t axis, int64_t begin, int64_t length, int64_t step) {
  view.data += begin * view.strides[axis] * (bit_width(view.dtype) / 8);
  view.sizes[axis] = length;
  view.strides[axis] *= step;
  return view;
}

AxisOrder order_of_strides(const View& view) {
  AxisOrder order = {};
  const auto rank = static_cast<size_t>(view.rank);
  for (size_t i = 0; i < rank; ++i) {
    // Axes of one element take no step; they come first.
    auto step = [&](size_t axis) { return view.sizes[axis] == 1 ? INT64_MAX : std::abs(view.strides[axis]); };
    size_t at = i;
    for (; at > 0 && step(order[at - 1]) < step(i); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

View permuted(const View& view, const AxisOrder& order) {
  View out = view;
  for (size_t i = 0; i < static_cast<size_t>(view.rank); ++i) {
    out.sizes[i] = view.sizes[order[i]];
    out.strides[i] = view.strides[order[i]];
  }
  return out;
}

}  // namespace ingot::cpu
