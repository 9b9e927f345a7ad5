#!/usr/bin/env python3
"""Writes the expected values of the ONNX reader's tests, taken from the onnx package (1.22) and NumPy.

    make_onnx_testdata.py tensors > src/import/onnx/testdata/tensors.txt
    make_onnx_testdata.py models FOLDER > src/import/onnx/testdata/models.txt

tensors: one TensorProto a line, "type field dims message elements", both byte strings in hex; the elements are packed
as NumPy holds them, types below a byte low bits first. Strings: the elements' hex, joined with commas.
models: a sample of the conformance models below FOLDER, "path nodes operators initializers", and of their input files,
"path type dims elements"; digests are 64-bit FNV-1a.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

NAMES = {
    TensorProto.FLOAT: ("f32", np.float32), TensorProto.UINT8: ("u8", np.uint8), TensorProto.INT8: ("i8", np.int8),
    TensorProto.UINT16: ("u16", np.uint16), TensorProto.INT16: ("i16", np.int16), TensorProto.INT32: ("i32", np.int32),
    TensorProto.INT64: ("i64", np.int64), TensorProto.STRING: ("string", object), TensorProto.BOOL: ("bool", np.bool_),
    TensorProto.FLOAT16: ("f16", np.float16), TensorProto.DOUBLE: ("f64", np.float64),
    TensorProto.UINT32: ("u32", np.uint32), TensorProto.UINT64: ("u64", np.uint64),
    TensorProto.BFLOAT16: ("bf16", ml_dtypes.bfloat16), TensorProto.FLOAT8E4M3FN: ("f8e4m3fn", ml_dtypes.float8_e4m3fn),
    TensorProto.FLOAT8E4M3FNUZ: ("f8e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    TensorProto.FLOAT8E5M2: ("f8e5m2", ml_dtypes.float8_e5m2),
    TensorProto.FLOAT8E5M2FNUZ: ("f8e5m2fnuz", ml_dtypes.float8_e5m2fnuz), TensorProto.UINT4: ("u4", ml_dtypes.uint4),
    TensorProto.INT4: ("i4", ml_dtypes.int4), TensorProto.FLOAT4E2M1: ("f4e2m1", ml_dtypes.float4_e2m1fn),
    TensorProto.FLOAT8E8M0: ("f8e8m0", ml_dtypes.float8_e8m0fnu), TensorProto.UINT2: ("u2", ml_dtypes.uint2),
    TensorProto.INT2: ("i2", ml_dtypes.int2),
}
BITS = {"u4": 4, "i4": 4, "f4e2m1": 4, "u2": 2, "i2": 2}
SAMPLE_STEP = 12
MAX_ELEMENTS = 100_000  # digests in Python are slow


def packed_bytes(array, name):
    if name not in BITS:
        return array.tobytes()
    bits = BITS[name]
    codes = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    out = bytearray((codes.size * bits + 7) // 8)
    for i, code in enumerate(codes):
        out[i * bits // 8] |= int(code) << (i * bits % 8)
    return bytes(out)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def dims_text(dims):
    return "x".join(str(d) for d in dims) or "scalar"


def values_for(name, dtype):
    if name == "string":
        return [b"", b"one", "zwölf".encode(), b"a\x00b", b"last"]
    if name == "bool":
        return np.array([1, 0, 0, 1, 1], dtype)
    if name.startswith(("i", "u")):
        info = ml_dtypes.iinfo(dtype)
        return np.array([info.min, info.max, 1, 0, info.max // 2], dtype)
    return np.array([1.0, 0.5, 2.0, 4.0, 1.0] if name == "f8e8m0" else [-1.0, 0.5, -2.0, 4.0, 0.0], dtype)


def print_tensor(tensor, name, field, expected):
    print(name, field, dims_text(tensor.dims), tensor.SerializeToString().hex(), expected or "-")


def tensors():
    for number, (name, dtype) in sorted(NAMES.items()):
        values = values_for(name, dtype)
        field = onnx.helper.tensor_dtype_to_field(number)
        if name == "string":
            tensor = onnx.helper.make_tensor("t", number, [5], values)
            print_tensor(tensor, name, field, ",".join(v.hex() for v in values))
            continue
        expected = packed_bytes(values, name).hex()
        listed = values.tolist() if name not in BITS else values.astype(np.float32).tolist()
        print_tensor(onnx.helper.make_tensor("t", number, [1, 5], listed), name, field, expected)
        print_tensor(numpy_helper.from_array(values, "t"), name, "raw_data", expected)
        scalar = onnx.helper.make_tensor("s", number, [], listed[:1])
        print_tensor(scalar, name, field, packed_bytes(values[:1], name).hex())
        print_tensor(onnx.helper.make_tensor("e", number, [3, 0], []), name, field, "")


def subgraphs(node):
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def operators(graph):
    for node in graph.node:
        yield node.op_type
        for graph_of_node in subgraphs(node):
            yield from operators(graph_of_node)


def tensor_text(tensor):
    name = NAMES[tensor.data_type][0]
    array = numpy_helper.to_array(tensor)
    if name == "string":
        data = b"".join(v.encode() + b"\n" for v in array.reshape(-1))
    else:
        data = packed_bytes(array, name)
    return f"{name} {dims_text(tensor.dims)} {fnv(data)}"


def print_model(root, path):
    model = onnx.load(path)
    if any(np.prod(t.dims) > MAX_ELEMENTS for t in model.graph.initializer):
        return
    names = list(operators(model.graph))
    initializers = ";".join(f"{t.name}:{tensor_text(t)}".replace(" ", ":") for t in model.graph.initializer)
    print("model", path.relative_to(root), len(names), fnv(",".join(names).encode()), initializers or "-")
    data = path.parent / "test_data_set_0" / "input_0.pb"
    if model.graph.input and model.graph.input[0].type.HasField("tensor_type") and data.exists():
        tensor = onnx.load_tensor(data)
        if np.prod(tensor.dims) <= MAX_ELEMENTS:
            print("tensor", data.relative_to(root), tensor_text(tensor))


def models(root):
    for i, path in enumerate(sorted(root.glob("*/*/model.onnx"))):
        wanted = i % SAMPLE_STEP == 0 or path.parts[-3] in ("light", "simple") or "cast" in path.parts[-2]
        if wanted or "sequence" in path.parts[-2]:
            print_model(root, path)


if __name__ == "__main__":
    if sys.argv[1:] == ["tensors"]:
        tensors()
    elif len(sys.argv) == 3 and sys.argv[1] == "models":
        models(Path(sys.argv[2]))
    else:
        sys.exit(__doc__)
