#!/usr/bin/env python3
"""Writes the expected values of the .npy reader's tests, made by NumPy and ml_dtypes.

    make_npy_testdata.py > src/tensor_io/testdata/arrays.txt

One file a line, "kind type dims file elements": the file and the elements in hex, the elements as Ingot holds them (row
by row, little-endian, types below a byte packed low bits first; texts as UTF-8 joined with commas). Kinds: "npy" is
also what Ingot must write, byte for byte; "read" is another way to write the same; "npz" holds the array as member "x"
next to another.
"""
import io
import warnings

import ml_dtypes
import numpy as np
from numpy.lib import format as npy_format

NATIVE = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16,
          "i8": np.int8, "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_}
EXTENSIONS = {"bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
              "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
              "f8e8m0": ml_dtypes.float8_e8m0fnu, "f4e2m1": ml_dtypes.float4_e2m1fn, "i4": ml_dtypes.int4,
              "u4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "u2": ml_dtypes.uint2}
BITS = {"u4": 4, "i4": 4, "f4e2m1": 4, "u2": 2, "i2": 2}


def packed(array, name):
    if name == "string":
        texts = [t if isinstance(t, bytes) else t.encode() for t in array.reshape(-1).tolist()]
        return ",".join(t.hex() for t in texts)
    flat = np.ascontiguousarray(array).reshape(-1)
    if name not in BITS:
        return flat.astype(flat.dtype.newbyteorder("<")).tobytes().hex()
    bits = BITS[name]
    out = bytearray((flat.size * bits + 7) // 8)
    for i, code in enumerate(flat.view(np.uint8) & ((1 << bits) - 1)):
        out[i * bits // 8] |= int(code) << (i * bits % 8)
    return bytes(out).hex()


def saved(array, version=None):
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        npy_format.write_array(stream, array, version=version)
    return stream.getvalue()


def row(kind, name, array, content):
    dims = "x".join(str(d) for d in array.shape) or "scalar"
    print(kind, name, dims, content.hex(), packed(array, name) or "-")


def archived(array, compressed):
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, other=np.arange(3), x=array)
    return stream.getvalue()


def values(dtype, shape, rng):
    return rng.integers(0, 2 if dtype == np.bool_ else 100, size=shape).astype(dtype)


def main():
    rng = np.random.default_rng(7)
    for name, dtype in NATIVE.items():
        array = values(dtype, (2, 3), rng)
        row("npy", name, array, saved(array))
        row("read", name, array, saved(np.asfortranarray(array)))
        if array.itemsize > 1:
            swapped = array.astype(array.dtype.newbyteorder(">"))
            row("read", name, array, saved(swapped))
            row("read", name, array, saved(np.asfortranarray(swapped)))
    for name, dtype in EXTENSIONS.items():
        array = rng.integers(0, 4 if "2" in name and name not in ("f8e5m2", "f4e2m1") else 8, size=(5, 3))
        array = (array - (2 if name.startswith("i") else 0)).astype(dtype)
        # ml_dtypes calls this one <f1, which NumPy cannot read back.
        row("read" if name == "f8e5m2" else "npy", name, array, saved(array))
        row("read", name, array, saved(np.asfortranarray(array)))
    texts = np.array([["a", "bc"], ["", "h\u00e9\u4e16\U0001f600"], ["x\0y", "end"]])
    row("npy", "string", texts, saved(texts))
    row("read", "string", texts, saved(np.asfortranarray(texts.astype(">U9"))))
    latin = np.array([b"\xff\xfe", b"plain", b""])
    row("npy", "string", latin, saved(latin))
    for shape in [(), (1,), (0,), (3, 0, 2), (2, 1, 3, 1, 2)]:
        array = values(np.float32, shape, rng)
        row("npy", "f32", array, saved(array))
        if shape:
            row("read", "f32", array, saved(np.asfortranarray(array)))
    array = values(np.int16, (4,), rng)
    for version in [(2, 0), (3, 0)]:
        row("read", "i16", array, saved(array, version))
    for compressed in [False, True]:
        array = np.zeros((4, 5), np.int64)
        row("npz", "i64", array, archived(array, compressed))


if __name__ == "__main__":
    main()
