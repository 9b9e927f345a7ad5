#!/usr/bin/env python3
"""Adds to tests/conformance/peer: convolution, pooling, einsum, recurrent layers, normalisation and attention, in forms
that the ONNX test data leaves out, with outputs of ONNX Runtime.

Needs numpy, onnx and onnxruntime. Usage: tools/make_layer_cases.py tests/conformance/peer
"""

import pathlib
import sys

import numpy as np
from make_peer_cases import write
from onnx import ValueInfoProto, helper, numpy_helper

F = np.float32
rng = np.random.default_rng(7)


def real(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(F)


def case(name, op, inputs, outputs, domain="", opset=17, constants=(), **attributes):
    """One node. `inputs`: arrays, or None where absent; those at positions `constants` become initializers."""
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
    wanted = [f"o{k}" if w else "" for k, w in enumerate(outputs)]
    node = helper.make_node(op, names, wanted, domain=domain, **attributes)
    fed = [k for k, a in enumerate(inputs) if a is not None and k not in constants]
    types = [helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(inputs[k].dtype), inputs[k].shape)
             for k in fed]
    graph = helper.make_graph([node], name, types, [ValueInfoProto(name=w) for w in wanted if w],
                              [numpy_helper.from_array(inputs[k], names[k]) for k in constants])
    write(OUT / name, graph, {names[k]: inputs[k] for k in fed}, opset)


def recurrent():
    t, b, i, h = 4, 3, 2, 5
    lengths = np.array([4, 2, 3], np.int32)

    def weights(gates, d):
        return real(d, gates * h, i), real(d, gates * h, h), real(d, 2 * gates * h)

    w, r, bias = weights(4, 2)
    case("lstm_all_operands", "LSTM",
         [real(t, b, i), w, r, bias, lengths, real(2, b, h), real(2, b, h), real(2, 3 * h)], [1, 1, 1],
         opset=14, hidden_size=h, direction="bidirectional")
    w, r, bias = weights(4, 1)
    case("lstm_input_forget_clip", "LSTM", [real(t, b, i, scale=3), w, r, bias], [1, 1, 1],
         opset=14, hidden_size=h, input_forget=1, clip=0.5)
    case("lstm_activations", "LSTM", [real(t, b, i), w, r, bias], [1, 1, 1],
         opset=14, hidden_size=h, activations=["HardSigmoid", "Softsign", "ScaledTanh"],
         activation_alpha=[0.3, 0.7], activation_beta=[0.4, 1.2])
    case("lstm_reverse_lengths", "LSTM", [real(t, b, i), w, r, None, lengths], [1, 1, 1],
         opset=14, hidden_size=h, direction="reverse")
    w, r, bias = weights(3, 2)
    for reset in (0, 1):
        case(f"gru_reset_{reset}", "GRU", [real(t, b, i), w, r, bias, lengths, real(2, b, h)], [1, 1],
             opset=14, hidden_size=h, direction="bidirectional", linear_before_reset=reset)
    case("gru_activations", "GRU", [real(t, b, i), w, r, bias], [1, 1],
         opset=14, hidden_size=h, direction="bidirectional",
         activations=["Sigmoid", "LeakyRelu", "HardSigmoid", "Elu"], activation_alpha=[0.2, 0.3, 0.5],
         activation_beta=[0.4])
    w, r, bias = weights(1, 2)
    case("rnn_two_activations", "RNN", [real(t, b, i), w, r, bias, lengths, real(2, b, h)], [1, 1],
         opset=14, hidden_size=h, direction="bidirectional", activations=["Relu", "Affine"],
         activation_alpha=[0.5], activation_beta=[0.1])


def convolution():
    x = real(2, 4, 9)
    case("conv_1d_same_lower", "Conv", [x, real(6, 2, 4), real(6)], [1], group=2, auto_pad="SAME_LOWER", strides=[2])
    case("conv_3d_dilated", "Conv", [real(1, 2, 6, 7, 5), real(3, 2, 2, 3, 2)], [1], dilations=[2, 1, 3],
         pads=[1, 0, 2, 0, 2, 1])
    case("conv_depthwise", "Conv", [real(2, 5, 8, 8), real(10, 1, 3, 3), real(10)], [1], group=5, pads=[1, 1, 1, 1])
    case("conv_transpose_groups", "ConvTranspose", [real(2, 4, 5, 4), real(4, 3, 3, 2), real(6)], [1], group=2,
         strides=[2, 3], dilations=[2, 1], pads=[1, 0, 2, 1], output_padding=[1, 2])
    case("conv_transpose_3d_same", "ConvTranspose", [real(1, 2, 3, 4, 2), real(2, 2, 3, 3, 4)], [1],
         strides=[2, 2, 3], auto_pad="SAME_UPPER")
    case("max_pool_column_major", "MaxPool", [real(2, 3, 7, 6)], [1, 1], kernel_shape=[3, 2], strides=[2, 2],
         pads=[1, 0, 1, 1], storage_order=1)
    case("max_pool_ceil_dilated", "MaxPool", [real(1, 2, 10, 9)], [1, 1], kernel_shape=[3, 2], strides=[3, 2],
         dilations=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1)
    case("average_pool_ceil_included", "AveragePool", [real(1, 2, 7, 8)], [1], opset=19, kernel_shape=[3, 3],
         strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1)
    case("lp_pool_1d", "LpPool", [real(2, 3, 11)], [1], kernel_shape=[4], strides=[3], pads=[1, 2], p=3)
    case("max_roi_pool", "MaxRoiPool",
         [real(2, 3, 12, 10), np.array([[0, 1, 2, 9, 11], [1, 0, 0, 3, 4], [1, 5, 5, 40, 40], [0, 7, 3, 7, 3]], F)],
         [1], pooled_shape=[3, 2], spatial_scale=0.7)
    case("global_lp_pool", "GlobalLpPool", [real(2, 3, 4, 5)], [1], p=3)
    case("softmax_opset_11_flattens", "Softmax", [real(2, 3, 4)], [1], opset=11, axis=1)
    case("log_softmax_opset_11_flattens", "LogSoftmax", [real(2, 3, 4)], [1], opset=11, axis=1)
    case("group_norm_opset_18", "GroupNormalization", [real(2, 6, 5), real(3), real(3)], [1], opset=18, num_groups=3)
    case("lrn_wide", "LRN", [real(2, 7, 3, 2, scale=5)], [1], size=5, alpha=0.3, beta=0.6, bias=1.5)
    for name, equation, shapes in (
            ("diagonal", "iji->ij", [(3, 4, 3)]), ("trace", "...ii->...", [(2, 3, 4, 4)]),
            ("three", "bij,jk,bk->bi", [(2, 3, 4), (4, 5), (2, 5)]), ("outer", "i,j->ij", [(3,), (4,)]),
            ("ellipsis", "a...b,b...->...a", [(2, 3, 4), (4, 3)]), ("implicit", "ba,bc", [(3, 2), (3, 4)]),
            ("sum", "ij->", [(3, 4)])):
        case(f"einsum_{name}", "Einsum", [real(*s) for s in shapes], [1], equation=equation)


MS = "com.microsoft"


def attention():
    b, s, n, d, past = 2, 3, 2, 4, 5
    width = n * d
    x, w, bias = real(b, s, 6), real(6, 3 * width, scale=0.5), real(3 * width)
    mask = np.array([[1, 1, 1], [1, 1, 0]], np.int32)
    case("ms_attention_mask", "Attention", [x, w, bias, mask], [1], MS, num_heads=n)
    case("ms_attention_lengths", "Attention", [x, w, bias, np.array([3, 2], np.int32)], [1], MS, num_heads=n)
    case("ms_attention_past_causal", "Attention", [x, w, bias, None, real(2, b, n, past, d)], [1, 1], MS,
         num_heads=n, unidirectional=1)
    case("ms_attention_sizes", "Attention", [x, real(6, 8 + 8 + 12), real(28)], [1], MS, num_heads=n,
         qkv_hidden_sizes=[8, 8, 12])
    q, k, v = real(b, s, width), real(b, 4, width), real(b, 4, n * 3)
    case("ms_mha_cross_bias", "MultiHeadAttention", [q, k, v, real(2 * width + n * 3), None, real(1, n, s, 4)], [1],
         MS, num_heads=n)
    case("ms_mha_padding", "MultiHeadAttention", [q, k, v, None, np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)],
         [1], MS, num_heads=n, scale=0.3)
    case("ms_mha_past", "MultiHeadAttention",
         [real(b, s, width), real(b, s, width), real(b, s, width), None, None, None, real(b, n, past, d),
          real(b, n, past, d)], [1, 1, 1], MS, num_heads=n, unidirectional=1)

    heads, shared, d, rows = 4, 2, 16, 16
    angles = rng.random((rows, d // 2)) * 3
    cos, sin = np.cos(angles).astype(F), np.sin(angles).astype(F)
    for name, steps, before, extra in (
            ("prompt", 5, 0, {"do_rotary": 1}), ("step", 1, 6, {"do_rotary": 1}),
            ("window", 6, 0, {"local_window_size": 3}), ("softcap", 4, 0, {"softcap": 2.0}),
            ("interleaved", 5, 0, {"do_rotary": 1, "rotary_interleaved": 1})):
        total = before + steps
        cached = [real(b, shared, before, d), real(b, shared, before, d)] if before else [None, None]
        rotary = [cos, sin] if "do_rotary" in extra else [None, None]
        case(f"ms_gqa_{name}", "GroupQueryAttention",
             [real(b, steps, heads * d), real(b, steps, shared * d), real(b, steps, shared * d), *cached,
              np.full(b, total - 1, np.int32), np.array(total, np.int32), *rotary], [1, 1, 1], MS,
             num_heads=heads, kv_num_heads=shared, **extra)
    case("ms_gqa_packed", "GroupQueryAttention",
         [real(b, 5, (heads + 2 * shared) * d), None, None, None, None, np.full(b, 4, np.int32),
          np.array(5, np.int32), cos, sin], [1, 1, 1], MS, num_heads=heads, kv_num_heads=shared, do_rotary=1)
    case("ms_rotary_offset", "RotaryEmbedding", [real(b, 5, heads * d), np.array([3], np.int64), cos, sin], [1], MS)
    case("ms_rotary_partial", "RotaryEmbedding",
         [real(b, heads, 5, 24), rng.integers(0, rows, (b, 5)), cos, sin], [1], MS, rotary_embedding_dim=16,
         num_heads=heads, interleaved=1)


def fused():
    x, skip, scale, bias = real(2, 3, 8), real(2, 3, 8), real(8), real(8)
    case("ms_skip_layer_norm", "SkipLayerNormalization", [x, skip, scale, bias, real(8)], [1, 0, 0, 1], MS)
    case("ms_skip_rms_norm", "SkipSimplifiedLayerNormalization", [x, skip, scale, real(8)], [1, 0, 0, 1], MS)
    case("ms_simplified_layer_norm", "SimplifiedLayerNormalization", [x, scale], [1], opset=17, axis=-1)
    ids = rng.integers(0, 9, (2, 4)).astype(np.int32)
    segments = rng.integers(0, 2, (2, 4)).astype(np.int32)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    case("ms_embed_layer_norm", "EmbedLayerNormalization",
         [ids, segments, real(9, 8), real(6, 8), real(2, 8), scale, bias, mask], [1, 1], MS)
    case("ms_fused_matmul", "FusedMatMul", [real(2, 4, 3), real(2, 5, 4)], [1], MS, transA=1, transB=1, alpha=0.5)
    image = real(1, 3, 6, 6)
    case("ms_fused_conv_leaky_relu", "FusedConv", [image, real(4, 3, 3, 3), real(4)], [1], MS,
         activation="LeakyRelu", activation_params=[0.2])
    case("ms_fused_conv_sum", "FusedConv", [image, real(4, 3, 3, 3), real(4), real(1, 4, 4, 4)], [1], MS,
         activation="Relu")
    blocks, width = 2, 16
    case("ms_matmul_8_bits", "MatMulNBits",
         [real(2, 3, blocks * width), rng.integers(0, 256, (6, blocks, width)).astype(np.uint8), real(6 * blocks),
          rng.integers(0, 256, 6 * blocks).astype(np.uint8)], [1], MS, constants=(1, 2, 3), K=blocks * width, N=6, bits=8,
         block_size=width)


OUT = pathlib.Path(sys.argv[1])
for group in (recurrent, convolution, attention, fused):
    group()
