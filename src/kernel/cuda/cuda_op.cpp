#include "kernel/cuda/cuda_op.h"

#include <bit>

#include "ingot/error.h"
#include "ir/op_info.h"

namespace ingot::kernel {
namespace {

[[noreturn]] void cannot_write(std::string observed) {
  throw Error({.code = ErrorCode::unsupported,
               .object = "CUDA kernel",
               .expected = "an op and types that CUDA kernels compute",
               .observed = std::move(observed)});
}

// Functions of one operand whose name in CUDA or in the prelude says it all.
std::string_view function_name(Op op) {
  switch (op) {
    case Op::Abs: return "absolute";
    case Op::Neg: return "neg";
    case Op::Sign: return "sign";
    case Op::Ceil: return "ceil";
    case Op::Floor: return "floor";
    case Op::Round: return "rint";
    case Op::Sqrt: return "sqrt";
    case Op::Exp: return "exp";
    case Op::Log: return "log";
    case Op::Sin: return "sin";
    case Op::Cos: return "cos";
    case Op::Tan: return "tan";
    case Op::Asin: return "asin";
    case Op::Acos: return "acos";
    case Op::Atan: return "atan";
    case Op::Sinh: return "sinh";
    case Op::Cosh: return "cosh";
    case Op::Tanh: return "tanh";
    case Op::Asinh: return "asinh";
    case Op::Acosh: return "acosh";
    case Op::Atanh: return "atanh";
    case Op::Erf: return "erf";
    case Op::Sigmoid: return "sigmoid";
    case Op::Softplus: return "softplus";
    case Op::Add: return "add";
    case Op::Sub: return "sub";
    case Op::Mul: return "mul";
    case Op::Div: return "divide";
    case Op::Max: return "larger";
    case Op::Min: return "smaller";
    case Op::ShiftLeft: return "shift_left";
    case Op::ShiftRight: return "shift_right";
    default: return {};
  }
}

std::string_view infix(Op op) {
  switch (op) {
    case Op::LogicalAnd:
    case Op::BitwiseAnd: return "&";
    case Op::LogicalOr:
    case Op::BitwiseOr: return "|";
    case Op::LogicalXor:
    case Op::BitwiseXor: return "^";
    case Op::Equal: return "==";
    case Op::Less: return "<";
    case Op::LessOrEqual: return "<=";
    default: return {};
  }
}

std::string bit_cast_text(DType from, DType to, const std::string& x) {
  if (from == DType::f32) return fmt::format("({})__float_as_int({})", cuda_type(to), x);
  if (from == DType::f64) return fmt::format("({})__double_as_longlong({})", cuda_type(to), x);
  if (to == DType::f32) return fmt::format("__int_as_float((int){})", x);
  if (to == DType::f64) return fmt::format("__longlong_as_double((i64){})", x);
  return fmt::format("({}){}", cuda_type(to), x);
}

std::string power_text(const Expr& e, DType from, const std::string& a, const std::string& b) {
  if (!is_floating(from)) return fmt::format("power({}, (i64){})", a, b);
  return fmt::format("pow({}, ({}){})", a, cuda_type(e.dtype), b);
}

}  // namespace

std::string cuda_type(DType dtype) {
  switch (arithmetic_type(dtype)) {
    case DType::f64: return "double";
    case DType::f32: return "float";
    case DType::i64: return "i64";
    case DType::i32: return "int";
    case DType::i16: return "short";
    case DType::i8: return "signed char";
    case DType::u64: return "u64";
    case DType::u32: return "unsigned";
    case DType::u16: return "unsigned short";
    case DType::u8: return "unsigned char";
    case DType::boolean: return "bool";
    default: cannot_write(std::string(to_string(dtype)));
  }
}

std::string cuda_memory_type(DType dtype) {
  if (dtype == DType::f16 || dtype == DType::bf16) return "unsigned short";
  return dtype == DType::boolean ? "unsigned char" : cuda_type(dtype);
}

std::string cuda_number(DType dtype, double real, int64_t integer) {
  switch (arithmetic_type(dtype)) {
    case DType::f64: return fmt::format("__longlong_as_double({:#x}ll)", std::bit_cast<uint64_t>(real));
    case DType::f32:
      return fmt::format("__uint_as_float({:#x}u)", std::bit_cast<uint32_t>(static_cast<float>(real)));
    default: return fmt::format("({}){:#x}ull", cuda_type(dtype), static_cast<uint64_t>(integer));
  }
}

std::string cuda_op(const Expr& e, DType from, const std::vector<std::string>& args) {
  auto real = [&](double value) { return cuda_number(e.dtype, value, 0); };
  const std::string& x = args.at(0);
  if (const auto name = function_name(e.op); !name.empty())
    return fmt::format("{}({})", name, fmt::join(args, ", "));
  if (const auto sign = infix(e.op); !sign.empty()) return fmt::format("{} {} {}", x, sign, args.at(1));
  switch (e.op) {
    case Op::Reciprocal: return fmt::format("({})1 / {}", cuda_type(e.dtype), x);
    case Op::Relu: return fmt::format("{0} < 0 ? ({1})0 : {0}", x, cuda_type(e.dtype));
    case Op::LogicalNot: return fmt::format("!{}", x);
    case Op::BitwiseNot: return fmt::format("({})~{}", cuda_type(e.dtype), x);
    case Op::IsNan: return fmt::format("{0} != {0}", x);
    case Op::IsInf: return fmt::format("is_infinite({}, {})", x, e.integer & 3);
    case Op::Cast: return fmt::format("cast<{}>({})", cuda_type(e.dtype), x);
    case Op::BitCast: return bit_cast_text(from, e.dtype, x);
    case Op::Mod: return fmt::format("modulo({}, {}, {})", x, args.at(1), e.integer == 1);
    case Op::Pow: return power_text(e, from, x, args.at(1));
    case Op::Prelu: return fmt::format("{0} < 0 ? mul({0}, {1}) : {0}", x, args.at(1));
    case Op::Select: return fmt::format("{} ? {} : {}", x, args.at(1), args.at(2));
    case Op::Clamp: return fmt::format("smaller(larger({}, {}), {})", x, args.at(1), args.at(2));
    case Op::Elu: return fmt::format("{0} < 0 ? {1} * expm1({0}) : {0}", x, real(e.real));
    case Op::Gelu: return fmt::format("{}({})", e.integer == 1 ? "gelu_tanh" : "gelu_erf", x);
    case Op::HardSigmoid: return fmt::format("hard_sigmoid({}, {}, {})", x, real(e.real), real(e.real2));
    case Op::HardSwish: return fmt::format("{0} * hard_sigmoid({0}, {1}, {2})", x, real(1.0 / 6), real(0.5));
    case Op::LeakyRelu: return fmt::format("{0} < 0 ? {1} * {0} : {0}", x, real(e.real));
    case Op::Mish: return fmt::format("{0} * tanh(softplus({0}))", x);
    case Op::Swish: return fmt::format("{0} * sigmoid({1} * {0})", x, real(e.real));
    default: cannot_write(std::string(to_string(e.op)));
  }
}

}  // namespace ingot::kernel
