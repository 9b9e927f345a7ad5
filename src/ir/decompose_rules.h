#pragma once

#include "ir/decompose.h"

// The decompositions named in the table of decompose.cpp, defined in decompose_<group>.cpp.
namespace ingot {

#define DECOMPOSITION(name) \
  std::vector<Value> name(GraphBuilder& g, const Node& node, std::span<const Value> operands);
DECOMPOSITION(decompose_attention)
DECOMPOSITION(decompose_batch_norm)
DECOMPOSITION(decompose_causal_conv)
DECOMPOSITION(decompose_clamp)
DECOMPOSITION(decompose_dft)
DECOMPOSITION(decompose_dynamic_quantize)
DECOMPOSITION(decompose_einsum)
DECOMPOSITION(decompose_elu)
DECOMPOSITION(decompose_gelu)
DECOMPOSITION(decompose_gemm)
DECOMPOSITION(decompose_grid_sample)
DECOMPOSITION(decompose_group_norm)
DECOMPOSITION(decompose_gru)
DECOMPOSITION(decompose_hard_sigmoid)
DECOMPOSITION(decompose_hard_swish)
DECOMPOSITION(decompose_instance_norm)
DECOMPOSITION(decompose_layer_norm)
DECOMPOSITION(decompose_leaky_relu)
DECOMPOSITION(decompose_linear_attention)
DECOMPOSITION(decompose_log_softmax)
DECOMPOSITION(decompose_lp_norm)
DECOMPOSITION(decompose_lrn)
DECOMPOSITION(decompose_lstm)
DECOMPOSITION(decompose_matmul_integer)
DECOMPOSITION(decompose_mel_weight_matrix)
DECOMPOSITION(decompose_mish)
DECOMPOSITION(decompose_prelu)
DECOMPOSITION(decompose_resize)
DECOMPOSITION(decompose_rms_norm)
DECOMPOSITION(decompose_rnn)
DECOMPOSITION(decompose_roi_align)
DECOMPOSITION(decompose_rotary_embedding)
DECOMPOSITION(decompose_softmax)
DECOMPOSITION(decompose_softplus)
DECOMPOSITION(decompose_stft)
DECOMPOSITION(decompose_swish)
#undef DECOMPOSITION

}  // namespace ingot
