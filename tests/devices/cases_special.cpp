// Pointwise ops on NaN, infinities, zeros of both signs and the ends of each integer type.
#include <cmath>
#include <limits>

#include "ir/op_info.h"
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> floats(DType dtype) {
  const double big =
      dtype == DType::f16 ? 65504 : 3.3895313892515355e38;  // the largest of bf16, exact in f32
  return {0,  -0.0, 1,   -1,   0.5,  -0.5,  1.5, 2.5,  -2.5,      3,          20,          -20,
          88, -88,  110, -110, 1000, -1000, big, -big, kInfinity, -kInfinity, std::nan("")};
}

// Flushing them changes what these ops say, and that is allowed; all others may be at most one unit off.
bool accepts_denormals(Op op) {
  switch (op) {
    case Op::Sign:
    case Op::Mul:
    case Op::Prelu:
    case Op::Log:
    case Op::Reciprocal:
    case Op::Sqrt:
    case Op::Div:
    case Op::Mod:
    case Op::Pow:
    case Op::Ceil:
    case Op::Floor:
    case Op::Equal:
    case Op::Less:
    case Op::LessOrEqual: return false;
    default: return true;
  }
}

std::vector<int64_t> integers(DType dtype) {
  const int bits = bit_width(dtype);
  if (is_unsigned_integer(dtype)) {
    const auto top = static_cast<int64_t>(UINT64_MAX >> (64 - bits));
    return {0, 1, 2, 3, 7, top, static_cast<int64_t>(static_cast<uint64_t>(top) - 1)};
  }
  const auto top = static_cast<int64_t>(uint64_t{INT64_MAX} >> (64 - bits));
  return {0, 1, -1, 2, -2, 3, -7, top, -top, -top - 1};
}

Tensor tensor_of_integers(DType dtype, const std::vector<int64_t>& values, const Shape& shape) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  std::byte* to = tensor.mutable_bytes().data();
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(to + i * static_cast<size_t>(bit_width(dtype) / 8), &values[i],
                static_cast<size_t>(bit_width(dtype) / 8));
  return tensor;
}

// Along an axis of its own per operand, so that every pair meets.
Tensor special_values(Op op, DType dtype, size_t operand) {
  Shape shape(operand + 1, 1);
  auto sized = [&](size_t count) {
    shape[0] = static_cast<int64_t>(count);
    return shape;
  };
  if (dtype == DType::boolean) return tensor_of(dtype, sized(2), {0, 1});
  if (is_integer(dtype)) {
    const auto values = integers(dtype);
    return tensor_of_integers(dtype, values, sized(values.size()));
  }
  auto values = floats(dtype);
  if (accepts_denormals(op) && dtype == DType::f32) values.insert(values.end(), {1e-40, -1e-40, 1e-45});
  return tensor_of(dtype, sized(values.size()), values);
}

// Integer types shift by less than their width only.
bool is_defined(const OpInfo& op, DType dtype) {
  if (op.op == Op::Cast || op.op == Op::BitCast || op.op == Op::ShiftLeft || op.op == Op::ShiftRight)
    return false;
  const TypeSet allowed = op.operands.size() == 3 ? op.operands[1].types : op.operands[0].types;
  return (allowed & bit(dtype)) != 0;
}

TableCase make_case(const OpInfo& op, DType dtype) {
  auto build = [&op, dtype](GraphMaker& m) {
    std::vector<Value> operands;
    for (size_t i = 0; i < op.operands.size(); ++i)
      operands.push_back(
          m.input(special_values(op.op, op.operands[i].types == types::Boolean ? DType::boolean : dtype, i)));
    return m.g.add(op.make_attrs({}), operands);
  };
  const Closeness real = dtype == DType::f64 && op.is(Composite) ? Closeness::composed : Closeness::rounding;
  return {fmt::format("{} {} of special values", op.name, to_string(dtype)), build,
          is_floating(dtype) ? real : Closeness::exact};
}

}  // namespace

void add_special_value_cases(Table& table) {
  for (const OpInfo& op : all_ops()) {
    if (!op.is(Pointwise)) continue;
    for (DType dtype : {DType::f32, DType::f16, DType::f64, DType::i64, DType::i32, DType::i8, DType::u64,
                        DType::u32, DType::u8, DType::boolean})
      if (is_defined(op, dtype)) table.push_back(make_case(op, dtype));
  }
}

}  // namespace ingot::devices
