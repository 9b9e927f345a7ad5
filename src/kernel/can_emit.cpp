#include "kernel/can_emit.h"

#include "ir/op_info.h"

namespace ingot::kernel {
namespace {

bool is_computed_in(DType dtype) {
  return dtype == DType::boolean || (bit_width(dtype) >= 8 && !(is_floating(dtype) && bit_width(dtype) == 8));
}

// A value that is rounded to f32 on its way to a half float would be rounded twice.
bool rounds_twice(DType from, DType to) {
  if (arithmetic_type(to) == to) return false;
  return from == DType::f64 || (to == DType::bf16 && is_integer(from) && bit_width(from) >= 32);
}

bool can_be_f64(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Log:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
    case Op::Sigmoid:
    case Op::Pow:
    case Op::Elu:
    case Op::Gelu:
    case Op::Mish:
    case Op::Softplus:
    case Op::Swish: return false;
    default: return true;
  }
}

}  // namespace

bool can_emit(Op op, DType operand, DType result) {
  if (!op_info(op).is(Pointwise) || !is_computed_in(operand) || !is_computed_in(result)) return false;
  if (operand == DType::f64 && !can_be_f64(op)) return false;
  switch (op) {
    case Op::Cast: return !rounds_twice(operand, result);
    case Op::BitCast:
      return bit_width(operand) == bit_width(result) && arithmetic_type(operand) == operand &&
             arithmetic_type(result) == result;
    case Op::Pow: return is_floating(operand);
    case Op::Mod: return !is_floating(operand);
    default: return true;
  }
}

}  // namespace ingot::kernel
