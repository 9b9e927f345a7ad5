#include "ir/decompose.h"

#include <map>

#include "ingot/error.h"
#include "ir/decompose_rules.h"
#include "ir/op_info.h"

namespace ingot {
namespace {

constexpr int64_t kLargestConstant = 64;

Type type_of(const Datum& datum) {
  if (datum.is_tensor()) return Type::of(datum.tensor());
  const Sequence& s = datum.sequence();
  return Type::sequence(Type::unranked(s.empty() ? DType::f32 : s[0].dtype()));
}

bool becomes_constant(const Datum& datum) {
  return datum.is_tensor() && is_integer(datum.tensor().dtype()) &&
         datum.tensor().count() <= kLargestConstant;
}

}  // namespace

Decomposition find_decomposition(Op op) {
  static const std::map<Op, Decomposition> table = {
      {Op::Attention, decompose_attention},
      {Op::BatchNorm, decompose_batch_norm},
      {Op::CausalConv, decompose_causal_conv},
      {Op::Clamp, decompose_clamp},
      {Op::Dft, decompose_dft},
      {Op::DynamicQuantize, decompose_dynamic_quantize},
      {Op::Einsum, decompose_einsum},
      {Op::Elu, decompose_elu},
      {Op::Gelu, decompose_gelu},
      {Op::Gemm, decompose_gemm},
      {Op::GridSample, decompose_grid_sample},
      {Op::GroupNorm, decompose_group_norm},
      {Op::Gru, decompose_gru},
      {Op::HardSigmoid, decompose_hard_sigmoid},
      {Op::HardSwish, decompose_hard_swish},
      {Op::InstanceNorm, decompose_instance_norm},
      {Op::LayerNorm, decompose_layer_norm},
      {Op::LeakyRelu, decompose_leaky_relu},
      {Op::LinearAttention, decompose_linear_attention},
      {Op::LogSoftmax, decompose_log_softmax},
      {Op::LpNorm, decompose_lp_norm},
      {Op::Lrn, decompose_lrn},
      {Op::Lstm, decompose_lstm},
      {Op::MatMulInteger, decompose_matmul_integer},
      {Op::MelWeightMatrix, decompose_mel_weight_matrix},
      {Op::Mish, decompose_mish},
      {Op::Prelu, decompose_prelu},
      {Op::Resize, decompose_resize},
      {Op::RmsNorm, decompose_rms_norm},
      {Op::Rnn, decompose_rnn},
      {Op::RoiAlign, decompose_roi_align},
      {Op::RotaryEmbedding, decompose_rotary_embedding},
      {Op::Softmax, decompose_softmax},
      {Op::Softplus, decompose_softplus},
      {Op::Stft, decompose_stft},
      {Op::Swish, decompose_swish},
  };
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

Decomposed decompose(const Node& node, std::span<const Datum> operands) {
  Decomposition rule = find_decomposition(node.op);
  if (rule == nullptr)
    throw Error({.code = ErrorCode::unsupported,
                 .object = "op",
                 .name = std::string(to_string(node.op)),
                 .expected = "a kernel or a decomposition",
                 .observed = "neither"});
  GraphBuilder g(std::string(to_string(node.op)));
  std::vector<Value> values;
  std::vector<Datum> inputs;
  for (const Datum& datum : operands) {
    if (datum.is_none()) {
      values.emplace_back();
    } else if (becomes_constant(datum)) {
      values.push_back(g.constant(datum.tensor()));
    } else {
      values.push_back(g.input(fmt::format("{}", inputs.size()), type_of(datum)));
      inputs.push_back(datum);
    }
  }
  std::vector<Value> results = rule(g, node, values);
  for (size_t i = 0; i < results.size(); ++i) g.output(fmt::format("{}", i), results[i]);
  return {std::move(g).finish(), std::move(inputs)};
}

}  // namespace ingot
