"""Transformer encoders: BERT as an exporter writes it, with batch and length as named sizes, and Whisper's."""
import numpy as np

from .graph import FLOAT, INT64, Graph, gelu, layer_norm, linear


def heads(graph, x, count, size, order):
    """[batch, length, width] as [batch, heads, length, size], or transposed further by `order`."""
    x = graph.op("Reshape", [x, graph.ints(0, 0, count, size)])
    return graph.op("Transpose", [x], perm=order)


def attention(graph, x, width, count, mask=None, key_bias=True):
    size = width // count
    q = heads(graph, linear(graph, x, width, width), count, size, [0, 2, 1, 3])
    k = heads(graph, linear(graph, x, width, width, key_bias), count, size, [0, 2, 3, 1])
    v = heads(graph, linear(graph, x, width, width), count, size, [0, 2, 1, 3])
    scores = graph.op("Mul", [graph.op("MatMul", [q, k]), graph.scalar(size ** -0.5)])
    if mask:
        scores = graph.op("Add", [scores, mask])
    y = graph.op("MatMul", [graph.op("Softmax", [scores], axis=-1), v])
    y = graph.op("Reshape", [graph.op("Transpose", [y], perm=[0, 2, 1, 3]), graph.ints(0, 0, width)])
    return linear(graph, y, width, width)


def feed_forward(graph, x, width, inner):
    return linear(graph, gelu(graph, linear(graph, x, width, inner)), inner, width)


def bert_embedding(graph, width, vocabulary):
    ids = graph.input("input_ids", INT64, ["batch", "length"])
    types = graph.input("token_type_ids", INT64, ["batch", "length"])
    length = graph.op("Gather", [graph.op("Shape", [ids]), graph.ints(1)])
    positions = graph.op("Slice", [graph.normal([1, 512, width], 0.02), graph.ints(0), length, graph.ints(1)])
    x = graph.op("Gather", [graph.normal([vocabulary, width], 0.05), ids])
    x = graph.op("Add", [x, graph.op("Gather", [graph.normal([2, width], 0.02), types])])
    return layer_norm(graph, graph.op("Add", [x, positions]), width)


def bert_mask(graph):
    """0 where a token counts, a large negative number where it does not; [batch, 1, 1, length]."""
    mask = graph.input("attention_mask", INT64, ["batch", "length"])
    mask = graph.op("Cast", [graph.op("Unsqueeze", [mask, graph.ints(1, 2)])], to=FLOAT)
    return graph.op("Mul", [graph.op("Sub", [graph.scalar(1), mask]), graph.scalar(np.finfo(np.float32).min)])


def bert(path, name, layers, width, count, inner, vocabulary=30522):
    graph = Graph(name)
    x, mask = bert_embedding(graph, width, vocabulary), bert_mask(graph)
    for _ in range(layers):
        x = layer_norm(graph, graph.op("Add", [x, attention(graph, x, width, count, mask)]), width)
        x = layer_norm(graph, graph.op("Add", [x, feed_forward(graph, x, width, inner)]), width)
    graph.output(x, "last_hidden_state", FLOAT, ["batch", "length", width])
    graph.save(path)


def minilm(path):
    bert(path, "minilm_l6", 6, 384, 12, 1536)


def bert_base(path):
    bert(path, "bert_base", 12, 768, 12, 3072)


def conv1d(graph, x, channels, filters, stride):
    weight = graph.normal([filters, channels, 3], (2 / (3 * channels)) ** 0.5)
    return gelu(graph, graph.op("Conv", [x, weight, graph.normal([filters], 0.02)], kernel_shape=[3], pads=[1, 1],
                                strides=[stride]))


def whisper_encoder(path, layers=4, width=384, count=6):
    """The shape of Whisper tiny: 30 s of 80 mel bands."""
    graph = Graph("whisper_tiny_encoder")
    mel = graph.input("mel", FLOAT, [1, 80, 3000])
    x = conv1d(graph, conv1d(graph, mel, 80, width, 1), width, width, 2)
    x = graph.op("Add", [graph.op("Transpose", [x], perm=[0, 2, 1]), graph.normal([1500, width], 0.5)])
    for _ in range(layers):
        y = attention(graph, layer_norm(graph, x, width, 1e-5), width, count, key_bias=False)
        x = graph.op("Add", [x, y])
        x = graph.op("Add", [x, feed_forward(graph, layer_norm(graph, x, width, 1e-5), width, 4 * width)])
    graph.output(layer_norm(graph, x, width, 1e-5), "hidden", FLOAT, [1, 1500, width])
    graph.save(path)
