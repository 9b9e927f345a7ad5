// Every pointwise op of the op table, on the types it takes, with broadcasting.
#include <cmath>
#include <limits>

#include "ir/op_info.h"
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

// Where an op is defined and well conditioned, so that a result that is off is wrong.
std::vector<Range> ranges_of(Op op) {
  switch (op) {
    case Op::Log:
    case Op::Sqrt: return {{0.01, 20}};
    case Op::Acosh: return {{1.01, 20}};
    case Op::Asin:
    case Op::Acos:
    case Op::Atanh: return {{-0.99, 0.99}};
    case Op::Tan: return {{-1.5, 1.5}};
    case Op::Pow: return {{0.1, 4}, {-3, 3}};
    case Op::Clamp: return {{-4, 4}, {-2, -1}, {1, 2}};
    case Op::ShiftLeft:
    case Op::ShiftRight: return {{0, 100}, {0, 3}};
    case Op::Exp:
    case Op::Sinh:
    case Op::Cosh: return {{-10, 10}};
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Mod: return {{-20, 20}};
    case Op::Reciprocal: return {{0.05, 20}};
    default: return {{-6, 6}};
  }
}

bool is_exact(Op op) {
  switch (op) {
    case Op::Abs:
    case Op::Neg:
    case Op::Sign:
    case Op::Ceil:
    case Op::Floor:
    case Op::Round:
    case Op::Relu:
    case Op::LogicalNot:
    case Op::BitwiseNot:
    case Op::IsNan:
    case Op::IsInf:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Max:
    case Op::Min:
    case Op::Equal:
    case Op::Less:
    case Op::LessOrEqual:
    case Op::Select:
    case Op::Clamp:
    case Op::Mod: return true;
    default: return false;
  }
}

const std::vector<DType>& common_types() {
  static const std::vector<DType> all = {DType::f32, DType::f16, DType::bf16, DType::f64,
                                         DType::i64, DType::i32, DType::i16,  DType::i8,
                                         DType::u64, DType::u32, DType::u8,   DType::boolean};
  return all;
}

// A sum that cancels, as these have near zero, is exact in the reference device alone; f64 has no margin for
// it.
Closeness closeness_of(const OpInfo& op, DType dtype) {
  if (is_exact(op.op) || !is_floating(dtype)) return Closeness::exact;
  if (op.op == Op::HardSigmoid || op.op == Op::HardSwish) return Closeness::composed;
  return op.is(Composite) && dtype == DType::f64 ? Closeness::composed : Closeness::rounding;
}

using Shapes = std::vector<Shape>;

// Ragged tails, empty tensors, and each way to broadcast.
std::vector<Shapes> shapes_for(size_t operands) {
  if (operands == 1) return {{{}}, {{17}}, {{3, 5, 7}}, {{2, 0, 3}}, {{1031}}};
  if (operands == 3)
    return {
        {{}, {}, {}}, {{37}, {37}, {37}}, {{4, 1, 9}, {1, 5, 1}, {9}}, {{1}, {2, 35}, {}}, {{0}, {1}, {}}};
  return {{{}, {}},          {{33}, {33}},  {{5, 19}, {19}},       {{4, 1, 9}, {1, 5, 1}},
          {{3, 1}, {1, 21}}, {{}, {29}},    {{2, 3, 4, 18}, {18}}, {{2, 3, 1, 1}, {2, 3, 5, 6}},
          {{0, 3}, {1, 3}},  {{1}, {1, 1}}, {{521}, {1}},          {{7, 65}, {7, 1}}};
}

std::string name_of(const OpInfo& op, DType dtype, const Shapes& shapes) {
  std::string name = fmt::format("{} {}", op.name, to_string(dtype));
  for (const Shape& shape : shapes) name += " " + to_string(shape);
  return name;
}

DType operand_type(const OpInfo& op, size_t i, DType dtype) {
  return op.operands[i].types == types::Boolean ? DType::boolean : dtype;
}

TableCase make_case(const OpInfo& op, DType dtype, const Shapes& shapes, size_t turn) {
  auto build = [&op, dtype, shapes](GraphMaker& m) {
    const std::vector<Range> ranges = ranges_of(op.op);
    std::vector<Value> operands;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Range range = ranges[std::min(i, ranges.size() - 1)];
      operands.push_back(m.tensor(operand_type(op, i, dtype), shapes[i], range));
    }
    return m.g.add(op.make_attrs({}), operands);
  };
  return {name_of(op, dtype, shapes), build, closeness_of(op, dtype), plain_and_one_more(turn)};
}

bool accepts(const OpInfo& op, DType dtype) {
  const TypeSet allowed = op.operands.size() == 3 ? op.operands[1].types : op.operands[0].types;
  return (allowed & bit(dtype)) != 0;
}

}  // namespace

void add_pointwise_cases(Table& table) {
  for (const OpInfo& op : all_ops()) {
    if (!op.is(Pointwise) || op.op == Op::Cast || op.op == Op::BitCast) continue;
    for (DType dtype : common_types()) {
      if (!accepts(op, dtype)) continue;
      const auto shapes = shapes_for(op.operands.size());
      for (size_t i = 0; i < shapes.size(); ++i)
        if (dtype == DType::f32 || i % 3 == 1) table.push_back(make_case(op, dtype, shapes[i], table.size()));
    }
  }
}

}  // namespace ingot::devices
