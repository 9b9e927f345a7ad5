#!/usr/bin/env python3
"""Writes a transformer of random weights as ONNX, to measure builds of large models.

    tools/make_synthetic_onnx.py FOLDER [--megabytes N] [--seed N] [--inline]

FOLDER gets model.onnx and weights.bin (1024 MB of float32 unless said); with --inline a model.onnx that holds the
weights itself, each 1 byte behind a multiple of 4. Needs nothing but Python: the protobuf bytes
are written by hand. The weights are small random numbers from a block of 1 MB, shifted differently for each weight, so
that no two are equal and the file is made at disk speed.
"""
import argparse
import random
import struct
from pathlib import Path

FLOAT, INT64 = 1, 7
BLOCK = 1 << 20


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else bytes(value)
    return varint(field << 3 | 2) + varint(len(value)) + value


def entry(key, value):
    return data(1, key) + data(2, str(value))


class Weights:
    """Messages for the weights, and their bytes: in an external file, each at a page, or behind its message."""

    def __init__(self, path, seed):
        self.file = open(path, "wb") if path else None
        self.offset = 0
        source = random.Random(seed)
        self.block = struct.pack(f"<{BLOCK // 4}f", *(source.uniform(-0.02, 0.02) for _ in range(BLOCK // 4)))
        self.count = 0
        self.messages = []  # (bytes of the field in the graph, (shift, size) of the content behind them)

    def add(self, name, shape):
        size = 4
        for n in shape:
            size *= n
        self.count += 1
        shift = self.count * 4099 * 4 % BLOCK
        head = b"".join(number(1, n) for n in shape) + number(2, FLOAT) + data(8, name)
        if self.file is None:
            self.messages.append((self.inline(head, size), (shift, size)))
            self.offset += size
            return name
        self.write(self.file, shift, size)
        self.messages.append((data(5, head + data(13, entry("location", "weights.bin")) +
                                   data(13, entry("offset", self.offset)) + data(13, entry("length", size)) +
                                   number(14, 1)), (0, 0)))
        self.offset += size
        padding = -self.offset % 4096
        self.file.write(bytes(padding))
        self.offset += padding
        return name

    def inline(self, head, size):
        """An initializer up to the first byte of its raw data; the length is a multiple of 4."""
        for comment in ("", "-", "--", "---"):
            full = head + data(12, comment) + varint(9 << 3 | 2) + varint(size)
            start = varint(5 << 3 | 2) + varint(len(full) + size) + full
            if len(start) % 4 == 0:
                return start
        raise AssertionError("four lengths in a row, and none a multiple of 4")

    def write(self, file, shift, size):
        twice = self.block[shift:] + self.block[:shift]
        while size > 0:
            file.write(twice[:min(size, BLOCK)])
            size -= min(size, BLOCK)


def small(name, values):
    """An int64 vector, or a float scalar, inside the model file."""
    if isinstance(values, float):
        return number(2, FLOAT) + data(8, name) + data(9, struct.pack("<f", values))
    return number(1, len(values)) + number(2, INT64) + data(8, name) + data(9, struct.pack(f"<{len(values)}q", *values))


def attribute(name, value):
    if isinstance(value, list):
        return data(1, name) + b"".join(number(8, v) for v in value) + number(20, 7)
    if isinstance(value, float):
        return data(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    return data(1, name) + number(3, value) + number(20, 2)


class Graph:
    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.constants = []

    def node(self, op, inputs, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(b"".join(data(1, i) for i in inputs) + data(2, name) + data(3, name) + data(4, op) +
                          b"".join(data(5, attribute(k, v)) for k, v in attributes.items()))
        return name

    def constant(self, name, values):
        self.constants.append(small(name, values))
        return name

    def linear(self, x, name, inputs, outputs):
        product = self.node("MatMul", [x, self.weights.add(name + ".weight", [inputs, outputs])])
        return self.node("Add", [product, self.weights.add(name + ".bias", [outputs])])

    def norm(self, x, name, width):
        scale, bias = self.weights.add(name + ".scale", [width]), self.weights.add(name + ".bias", [width])
        return self.node("LayerNormalization", [x, scale, bias], axis=-1, epsilon=1e-5)

    def heads(self, x, order):
        return self.node("Transpose", [self.node("Reshape", [x, "head_shape"])], perm=order)

    def layer(self, x, name, width):
        normal = self.norm(x, name + ".norm1", width)
        q = self.heads(self.linear(normal, name + ".q", width, width), [0, 2, 1, 3])
        k = self.heads(self.linear(normal, name + ".k", width, width), [0, 2, 3, 1])
        v = self.heads(self.linear(normal, name + ".v", width, width), [0, 2, 1, 3])
        scores = self.node("Softmax", [self.node("Mul", [self.node("MatMul", [q, k]), "scale"])], axis=-1)
        mixed = self.node("Transpose", [self.node("MatMul", [scores, v])], perm=[0, 2, 1, 3])
        mixed = self.linear(self.node("Reshape", [mixed, "flat_shape"]), name + ".o", width, width)
        x = self.node("Add", [x, mixed])
        hidden = self.linear(self.norm(x, name + ".norm2", width), name + ".up", width, 4 * width)
        gate = self.node("Mul", [hidden, self.node("Sigmoid", [hidden])])
        return self.node("Add", [x, self.linear(gate, name + ".down", 4 * width, width)])


def value_info(name, dtype, dims):
    shape = b"".join(data(1, number(1, d) if isinstance(d, int) else data(2, d)) for d in dims)
    return data(1, name) + data(2, data(1, number(1, dtype) + data(2, shape)))


def write_model(path, weights, rest_of_graph):
    """The weights first in the graph, so that their addresses are known."""
    size = sum(len(start) + content[1] for start, content in weights.messages) + len(rest_of_graph)
    before = number(1, 8) + data(2, "make_synthetic_onnx") + data(8, data(1, "") + number(2, 17))
    graph = varint(7 << 3 | 2) + varint(size)
    comment = next(c for c in ("", "-", "--", "---") if len(before + data(6, c) + graph) % 4 == 1)
    with open(path, "wb") as file:
        file.write(before + data(6, comment) + graph)
        for start, content in weights.messages:
            file.write(start)
            weights.write(file, *content)
        file.write(rest_of_graph)


def make_model(folder, megabytes, seed, inline):
    width, heads, vocabulary = 1024, 16, 4096
    weights = Weights(None if inline else folder / "weights.bin", seed)
    g = Graph(weights)
    g.constant("head_shape", [0, 0, heads, width // heads])
    g.constant("flat_shape", [0, 0, width])
    g.constant("scale", (width // heads) ** -0.5)
    x = g.node("Gather", [weights.add("embedding", [vocabulary, width]), "tokens"], axis=0)
    layers = 0
    layer_bytes = 4 * 12 * width * width
    while weights.offset + layer_bytes < megabytes << 20:
        x = g.layer(x, f"layer{layers}", width)
        layers += 1
    rest = ((megabytes << 20) - weights.offset) // (4 * width)  # what is left goes into the last projection
    output = g.linear(g.norm(x, "norm", width), "head", width, max(rest, 1))
    graph = (b"".join(data(1, n) for n in g.nodes) + data(2, "synthetic") +
             b"".join(data(5, t) for t in g.constants) +
             data(11, value_info("tokens", INT64, ["batch", "length"])) +
             data(12, value_info(output, FLOAT, ["batch", "length", max(rest, 1)])))
    if weights.file:
        weights.file.close()
    write_model(folder / "model.onnx", weights, graph)
    return layers, weights.offset


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the weights (default 1024)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inline", action="store_true", help="weights inside the model file")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    layers, size = make_model(options.folder, options.megabytes, options.seed, options.inline)
    print(f"{options.folder}/model.onnx: {layers} layers, {size} bytes of weights")


if __name__ == "__main__":
    main()
