"""Writes ONNX graphs: a thin layer over onnx.helper with random weights of a chosen spread."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    """Nodes, weights and ports under construction. Values are named by strings, as in ONNX."""

    def __init__(self, name, seed=0):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.domains = {"": 18}

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def scalar(self, value):
        return self.constant(np.float32(value))

    def normal(self, shape, spread):
        """A weight of normally distributed numbers; none is so small that it or its square is denormal."""
        values = self.random.standard_normal(shape, dtype=np.float32)
        smallest = np.float32(1e-6)
        values = np.where(np.abs(values) < smallest, np.copysign(smallest, values), values)
        return self.constant(values * np.float32(spread))

    def op(self, kind, inputs, count=1, domain="", **attributes):
        """Adds a node; returns the name of its output, or the names of several."""
        outputs = [f"v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        if domain:
            self.domains[domain] = 1
        return outputs[0] if count == 1 else outputs

    def input(self, name, element, shape):
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def output(self, value, name, element, shape):
        """Makes `value` an output under a name of its own."""
        for node in self.nodes:
            node.output[:] = [name if o == value else o for o in node.output]
            node.input[:] = [name if i == value else i for i in node.input]
        self.outputs.append(helper.make_tensor_value_info(name, element, shape))

    def save(self, path):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.domains.items()]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="ingot-benchmarks"), path)


def layer_norm(graph, x, width, epsilon=1e-12):
    scale = graph.constant(1 + 0.1 * graph.random.standard_normal(width, dtype=np.float32))
    return graph.op("LayerNormalization", [x, scale, graph.normal([width], 0.02)], axis=-1, epsilon=epsilon)


def linear(graph, x, inputs, outputs, bias=True, gain=1.0):
    """MatMul, and Add of a bias, that keep the variance of normalised activations times gain squared."""
    y = graph.op("MatMul", [x, graph.normal([inputs, outputs], gain * inputs ** -0.5)])
    return graph.op("Add", [y, graph.normal([outputs], 0.02)]) if bias else y


def gelu(graph, x):
    """As exporters write it where the opset has no Gelu."""
    error = graph.op("Erf", [graph.op("Div", [x, graph.scalar(2 ** 0.5)])])
    return graph.op("Mul", [graph.op("Mul", [x, graph.op("Add", [error, graph.scalar(1)])]), graph.scalar(0.5)])
