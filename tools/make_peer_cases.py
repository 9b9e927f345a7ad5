#!/usr/bin/env python3
"""Writes tests/conformance/peer: models of ops that the ONNX test data does not cover, with outputs of ONNX Runtime.

Needs the Python packages numpy, onnx and onnxruntime. The results are kept in the repository; run this again to add a
case:  tools/make_peer_cases.py tests/conformance/peer [NAME...]
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def tensor(*shape, dtype=np.float32, low=-2, high=2, seed=1):
    random = np.random.default_rng(seed)
    if np.issubdtype(np.dtype(dtype), np.integer):
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    return random.uniform(low, high, shape).astype(dtype)


def single(op, inputs, constants=None, domain="com.microsoft", opset=17, outputs=1,
           extra=None, **attributes):
    """One node. `inputs` and `constants` map names to arrays, in the order of the node's inputs; None is an absent one."""
    constants = constants or set()
    names = [name if value is not None else "" for name, value in inputs.items()]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=domain, **attributes, **(extra or {}))
    given = {n: v for n, v in inputs.items() if v is not None}
    graph = helper.make_graph(
        [node], op,
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
         for n, v in given.items() if n not in constants],
        [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)],
        [numpy_helper.from_array(v, n) for n, v in given.items() if n in constants])
    return graph, {n: v for n, v in given.items() if n not in constants}, opset


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def two_quantized(op, dtype):
    return single(op, {"a": tensor(2, 3, 4, dtype=dtype), "a_scale": number(0.05), "a_zero": number(3, dtype),
                       "b": tensor(3, 1, dtype=dtype, seed=2), "b_scale": number(0.02), "b_zero": number(9, dtype),
                       "y_scale": number(0.07), "y_zero": number(11, dtype)})


def one_quantized(op, dtype=np.uint8, shape=(2, 3, 4), scale=0.05, y_scale=0.004, y_zero=0, **attributes):
    return single(op, {"x": tensor(*shape, dtype=dtype), "x_scale": number(scale), "x_zero": number(100, dtype),
                       "y_scale": number(y_scale), "y_zero": number(y_zero, dtype)}, **attributes)


@case
def qlinear_add_u8():
    return two_quantized("QLinearAdd", np.uint8)


@case
def qlinear_mul_i8():
    return two_quantized("QLinearMul", np.int8)


@case
def qlinear_sigmoid():
    return one_quantized("QLinearSigmoid")


@case
def qlinear_leaky_relu():
    return one_quantized("QLinearLeakyRelu", y_scale=0.06, y_zero=90, alpha=0.2)


@case
def qlinear_softmax():
    return one_quantized("QLinearSoftmax", axis=-1, extra={"opset": 13})


@case
def qlinear_average_pool():
    return one_quantized("QLinearAveragePool", shape=(1, 2, 5, 5), y_scale=0.05, y_zero=100, kernel_shape=[3, 3],
                         strides=[2, 2], pads=[1, 1, 1, 1])


@case
def qlinear_global_average_pool():
    return one_quantized("QLinearGlobalAveragePool", shape=(1, 2, 5, 5), y_scale=0.02, y_zero=100)


@case
def qlinear_concat():
    return single("QLinearConcat", {"y_scale": number(0.06), "y_zero": number(5, np.uint8),
                                    "a": tensor(2, 3, dtype=np.uint8), "a_scale": number(0.05),
                                    "a_zero": number(3, np.uint8), "b": tensor(2, 1, dtype=np.uint8, seed=2),
                                    "b_scale": number(0.02), "b_zero": number(9, np.uint8)}, axis=1)


@case
def qlinear_where():
    return single("QLinearWhere", {"c": np.array([[True], [False]]),
                                   "a": tensor(2, 3, dtype=np.uint8), "a_scale": number(0.05),
                                   "a_zero": number(3, np.uint8), "b": tensor(3, dtype=np.uint8, seed=2),
                                   "b_scale": number(0.02), "b_zero": number(9, np.uint8), "y_scale": number(0.06),
                                   "y_zero": number(5, np.uint8)})


@case
def qgemm_with_bias():
    return single("QGemm", {"a": tensor(3, 4, dtype=np.uint8), "a_scale": number(0.05), "a_zero": number(3, np.uint8),
                            "b": tensor(5, 4, dtype=np.int8, seed=2),
                            "b_scale": np.array([0.01, 0.02, 0.03, 0.01, 0.02], np.float32),
                            "b_zero": np.zeros(5, np.int8), "c": np.arange(-500, 500, 200).astype(np.int32),
                            "y_scale": number(2), "y_zero": number(60, np.uint8)},
                  constants={"b", "b_scale", "b_zero", "c"}, transB=1)


@case
def qgemm_to_float():
    return single("QGemm", {"a": tensor(3, 4, dtype=np.uint8), "a_scale": number(0.05), "a_zero": number(3, np.uint8),
                            "b": tensor(4, 5, dtype=np.uint8, seed=2), "b_scale": number(0.01),
                            "b_zero": number(7, np.uint8)}, alpha=0.5)


@case
def matmul_integer_to_float():
    return single("MatMulIntegerToFloat",
                  {"a": tensor(2, 3, 4, dtype=np.uint8), "b": tensor(4, 5, dtype=np.int8, seed=2),
                   "a_scale": number(0.05), "b_scale": np.array([0.01, 0.02, 0.03, 0.01, 0.02], np.float32),
                   "a_zero": number(3, np.uint8), "b_zero": np.array([0, 1, 2, -3, 4], np.int8),
                   "bias": tensor(5, seed=3)}, constants={"b"})


@case
def dynamic_quantize_matmul():
    return single("DynamicQuantizeMatMul",
                  {"a": tensor(3, 4), "b": tensor(4, 5, dtype=np.uint8, seed=2), "b_scale": number(0.02),
                   "b_zero": number(100, np.uint8), "bias": tensor(5, seed=3)})


@case
def matmul_nbits_4():
    return single("MatMulNBits", {"a": tensor(2, 3, 32), "b": tensor(6, 2, 8, dtype=np.uint8, seed=2),
                                  "scales": tensor(12, low=0.01, high=0.1, seed=3)},
                  constants={"b", "scales"}, K=32, N=6, bits=4, block_size=16)


@case
def matmul_nbits_4_odd_blocks_with_zero_points():
    return single("MatMulNBits", {"a": tensor(3, 40), "b": tensor(6, 3, 8, dtype=np.uint8, seed=2),
                                  "scales": tensor(18, low=0.01, high=0.1, seed=3),
                                  "zeros": tensor(12, dtype=np.uint8, seed=4)},
                  constants={"b", "scales", "zeros"}, K=40, N=6, bits=4, block_size=16)


@case
def fast_gelu_with_bias():
    return single("FastGelu", {"x": tensor(2, 5), "bias": tensor(5, seed=2)})


@case
def bias_gelu():
    return single("BiasGelu", {"x": tensor(2, 5), "bias": tensor(5, seed=2)})


@case
def gelu():
    return single("Gelu", {"x": tensor(2, 5)})


@case
def quick_gelu():
    return single("QuickGelu", {"x": tensor(2, 5)}, alpha=1.5)


@case
def qlinear_conv_per_channel():
    return single("QLinearConv",
                  {"x": tensor(1, 4, 6, 6, dtype=np.uint8), "x_scale": number(0.02), "x_zero": number(120, np.uint8),
                   "w": tensor(4, 2, 3, 3, dtype=np.int8, seed=2),
                   "w_scale": np.array([0.01, 0.02, 0.005, 0.03], np.float32), "w_zero": np.zeros(4, np.int8),
                   "y_scale": number(0.5), "y_zero": number(128, np.uint8),
                   "b": np.array([100, -200, 300, 0], np.int32)},
                  constants={"w", "w_scale", "w_zero", "b"}, domain="", opset=13, group=2, pads=[1, 1, 1, 1])


@case
def prelu_with_a_slope_per_channel():
    return single("PRelu", {"x": tensor(2, 3, 4), "slope": tensor(3, 1, seed=2)}, domain="", opset=16)


@case
def clip_integers():
    return single("Clip", {"x": tensor(3, 4, dtype=np.int32), "low": None, "high": number(5, np.int32)}, domain="",
                  opset=13)


@case
def shrink_integers():
    return single("Shrink", {"x": np.array([-3, -1, 0, 1, 3], np.int32)}, domain="", opset=9, lambd=1.5, bias=1.0)


@case
def hardmax_of_all_later_axes():
    return single("Hardmax", {"x": tensor(2, 3, 4)}, domain="", opset=11, axis=1)


@case
def mod_of_negative_integers():
    return single("Mod", {"a": np.arange(-6, 6).astype(np.int64).reshape(3, 4), "b": np.array([-4, 4, 3, -3])},
                  domain="", opset=13)


@case
def pow_of_mixed_types():
    return single("Pow", {"a": np.array([-2, 3, 4], np.int32), "b": np.array([2.0, 0.5, -1.0], np.float32)}, domain="",
                  opset=15)


def write(folder, graph, inputs, opset):
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="make_peer_cases")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
    for info, value in zip(model.graph.output, outputs):
        info.type.CopyFrom(helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for kind, values in (("input", inputs.values()), ("output", outputs)):
        for i, value in enumerate(values):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    # One step of an 8-bit result: ONNX Runtime rounds some of its quantised ops in other places.
    absolute = 1 if any(v.dtype in (np.uint8, np.int8) for v in outputs) else 1e-5
    (folder / "data.json").write_text(json.dumps({"atol": absolute, "rtol": 1e-4}) + "\n")


def main():
    root = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or CASES:
        write(root / name, *CASES[name]())


if __name__ == "__main__":
    main()
