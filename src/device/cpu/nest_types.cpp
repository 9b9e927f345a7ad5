#include "device/cpu/nest_types.h"

#include "device/cpu/static_graph.h"
#include "device/cpu/view.h"
#include "ir/op_info.h"
#include "kernel/can_emit.h"

namespace ingot::cpu {
namespace {

int64_t flag(bool set, int64_t value) { return set ? value : 0; }

void copy_attributes(const Node& node, kernel::Expr& expr) {
  switch (node.op) {
    case Op::IsInf: {
      const auto& a = node.as<IsInfAttrs>();
      expr.integer = flag(a.negative, 1) + flag(a.positive, 2);
      break;
    }
    case Op::Cast: expr.integer = flag(node.as<CastAttrs>().saturate, 1); break;
    case Op::Mod: expr.integer = flag(node.as<ModAttrs>().truncate, 1); break;
    case Op::Gelu: expr.integer = flag(node.as<GeluAttrs>().form != GeluForm::erf, 1); break;
    case Op::Elu: expr.real = node.as<EluAttrs>().alpha; break;
    case Op::LeakyRelu: expr.real = node.as<LeakyReluAttrs>().alpha; break;
    case Op::Swish: expr.real = node.as<SwishAttrs>().alpha; break;
    case Op::HardSigmoid:
      expr.real = node.as<HardSigmoidAttrs>().alpha;
      expr.real2 = node.as<HardSigmoidAttrs>().beta;
      break;
    default: break;
  }
}

bool known_tensor(const Type& type) {
  return type.is_tensor() && is_static(type) && type.dims->size() <= kMaxRank && compute_type(type.dtype);
}

}  // namespace

std::optional<DType> compute_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16: return DType::f32;
    case DType::f64:
    case DType::f32:
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::boolean: return dtype;
    default: return std::nullopt;
  }
}

bool in_nests(const Graph& graph, const Node& node) {
  if (node.op == Op::BitCast) return false;
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (!node.operands[i].is_none() && !known_tensor(graph.type(node.operands[i]))) return false;
  if (node.types.size() != 1 || !known_tensor(node.types[0])) return false;
  if (!op_info(node.op).is(Pointwise)) return true;
  // Of a select the condition comes first.
  const size_t numeric = node.op == Op::Select ? 1 : 0;
  return kernel::can_emit(node.op, graph.type(node.operands[numeric]).dtype, node.types[0].dtype);
}

kernel::Expr pointwise_expr(const Node& node) {
  kernel::Expr expr{.kind = kernel::ExprKind::op, .op = node.op, .dtype = *compute_type(node.types[0].dtype)};
  copy_attributes(node, expr);
  return expr;
}

}  // namespace ingot::cpu
