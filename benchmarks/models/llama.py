"""Llama-shaped decoders with a cache of keys and values: fp32 weights, or 4-bit ones in MatMulNBits.

Inputs are the token ids, the rows of the rotary tables for their positions, what the mask adds to the scores, and the
cached keys and values; outputs are the logits of the last token and the new rows of the cache.
"""
from dataclasses import dataclass

import numpy as np

from .graph import FLOAT, INT64, Graph, linear


@dataclass(frozen=True)
class Shape:
    width: int
    layers: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int

    @property
    def head_size(self):
        return self.width // self.heads

    def weights(self):
        """Of the projections, those of the logits included; the embedding table is only looked up."""
        attention = 2 * self.width * (self.width + self.kv_heads * self.head_size)
        return self.layers * (attention + 3 * self.width * self.inner) + self.width * self.vocabulary


SMALL = Shape(768, 12, 12, 4, 2048, 32000)   # 125M parameters
LARGE = Shape(2048, 22, 32, 4, 5632, 32000)  # 1.1B


class Decoder:
    def __init__(self, name, shape, block=0):
        """Weights in blocks of `block` 4-bit numbers, or fp32 without."""
        self.graph, self.shape, self.block = Graph(name), shape, block
        self.rows = [1, shape.kv_heads, "length", shape.head_size]

    def project(self, x, inputs, outputs):
        if not self.block:
            return linear(self.graph, x, inputs, outputs, bias=False)
        blocks, random = inputs // self.block, self.graph.random
        packed = random.integers(0, 256, (outputs, blocks, self.block // 2), np.uint8)
        spread = inputs ** -0.5 / 4.6  # the standard deviation of 16 equally likely steps is 4.6
        scales = (spread * random.uniform(0.8, 1.25, (outputs, blocks))).astype(np.float16)  # as quantisers keep them
        return self.graph.op("MatMulNBits", [x, self.graph.constant(packed),
                                             self.graph.constant(scales.astype(np.float32))],
                             domain="com.microsoft", K=inputs, N=outputs, bits=4, block_size=self.block,
                             accuracy_level=4)

    def rms_norm(self, x):
        graph = self.graph
        square = graph.op("ReduceMean", [graph.op("Pow", [x, graph.scalar(2)]), graph.ints(-1)], keepdims=1)
        root = graph.op("Sqrt", [graph.op("Add", [square, graph.scalar(1e-5)])])
        scale = 1 + 0.1 * graph.random.standard_normal(self.shape.width, dtype=np.float32)
        return graph.op("Mul", [graph.op("Div", [x, root]), graph.constant(scale)])

    def rotate(self, x):
        graph = self.graph
        first, second = graph.op("Split", [x], 2, axis=3, num_outputs=2)
        turned = graph.op("Concat", [graph.op("Neg", [second]), first], axis=3)
        return graph.op("Add", [graph.op("Mul", [x, "cos"]), graph.op("Mul", [turned, "sin"])])

    def heads(self, x, count):
        x = self.graph.op("Reshape", [x, self.graph.ints(1, -1, count, self.shape.head_size)])
        return self.graph.op("Transpose", [x], perm=[0, 2, 1, 3])

    def cached(self, layer, name, rows):
        """All rows, the cached ones and the new ones, for each query head; the new ones become an output."""
        graph, s = self.graph, self.shape
        past = graph.input(f"past_{name}_{layer}", FLOAT, [1, s.kv_heads, "past", s.head_size])
        all_rows = graph.op("Concat", [past, rows], axis=2)
        group = graph.op("Unsqueeze", [all_rows, graph.ints(2)])
        group = graph.op("Expand", [group, graph.ints(1, s.kv_heads, s.heads // s.kv_heads, 1, s.head_size)])
        return graph.op("Reshape", [group, graph.ints(1, s.heads, -1, s.head_size)])

    def attention(self, x, layer):
        graph, s = self.graph, self.shape
        kv_width = s.kv_heads * s.head_size
        q = self.rotate(self.heads(self.project(x, s.width, s.width), s.heads))
        k = self.rotate(self.heads(self.project(x, s.width, kv_width), s.kv_heads))
        v = self.heads(self.project(x, s.width, kv_width), s.kv_heads)
        keys, values = self.cached(layer, "key", k), self.cached(layer, "value", v)
        self.new_rows += [(k, f"key_{layer}"), (v, f"value_{layer}")]
        scores = graph.op("MatMul", [q, graph.op("Transpose", [keys], perm=[0, 1, 3, 2])])
        scores = graph.op("Mul", [scores, graph.scalar(s.head_size ** -0.5)])
        y = graph.op("MatMul", [graph.op("Softmax", [graph.op("Add", [scores, "mask"])], axis=-1), values])
        y = graph.op("Reshape", [graph.op("Transpose", [y], perm=[0, 2, 1, 3]), graph.ints(1, -1, s.width)])
        return self.project(y, s.width, s.width)

    def feed_forward(self, x):
        graph, s = self.graph, self.shape
        gate = self.project(x, s.width, s.inner)
        gate = graph.op("Mul", [gate, graph.op("Sigmoid", [gate])])
        return self.project(graph.op("Mul", [gate, self.project(x, s.width, s.inner)]), s.inner, s.width)

    def embedding(self):
        """Stored as float16 beside 4-bit weights, as such files are."""
        graph, s = self.graph, self.shape
        if not self.block:
            return graph.op("Gather", [graph.normal([s.vocabulary, s.width], 1), "ids"])
        table = graph.random.standard_normal((s.vocabulary, s.width), dtype=np.float32).astype(np.float16)
        return graph.op("Cast", [graph.op("Gather", [graph.constant(table), "ids"])], to=FLOAT)

    def inputs(self):
        graph, size = self.graph, self.shape.head_size
        graph.input("ids", INT64, [1, "length"])
        graph.input("cos", FLOAT, [1, 1, "length", size])
        graph.input("sin", FLOAT, [1, 1, "length", size])
        graph.input("mask", FLOAT, [1, 1, "length", "total"])

    def save(self, path):
        graph, s = self.graph, self.shape
        self.new_rows = []
        self.inputs()
        x = self.embedding()
        for layer in range(s.layers):
            x = graph.op("Add", [x, self.attention(self.rms_norm(x), layer)])
            x = graph.op("Add", [x, self.feed_forward(self.rms_norm(x))])
        last = graph.op("Slice", [self.rms_norm(x), graph.ints(-1), graph.ints(2 ** 31), graph.ints(1)])
        graph.output(self.project(last, s.width, s.vocabulary), "logits", FLOAT, [1, 1, s.vocabulary])
        for value, name in self.new_rows:
            graph.output(value, name, FLOAT, self.rows)
        graph.save(path)


def llama_125m(path):
    Decoder("llama_125m", SMALL).save(path)


def llama_1b_int4(path):
    Decoder("llama_1b_int4", LARGE, block=32).save(path)
