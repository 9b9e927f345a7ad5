"""Convolutional networks, with batch normalisation folded as exporters leave them. The batch is a named size."""
from .graph import FLOAT, Graph


def conv(graph, x, channels, filters, kernel, stride=1, pads=None, groups=1, gain=2 ** 0.5):
    """A convolution with bias. The gain keeps the variance of what follows a ReLU at about one."""
    fan_in = channels // groups * kernel * kernel
    weight = graph.normal([filters, channels // groups, kernel, kernel], gain * fan_in ** -0.5)
    bias = graph.normal([filters], 0.05)
    return graph.op("Conv", [x, weight, bias], kernel_shape=[kernel] * 2, strides=[stride] * 2, group=groups,
                    pads=pads or [kernel // 2] * 4)


def relu6(graph, x):
    return graph.op("Clip", [x, graph.scalar(0), graph.scalar(6)])


def classifier(graph, x, channels):
    """Global pooling and 1000 classes, as outputs `logits`."""
    x = graph.op("Flatten", [graph.op("GlobalAveragePool", [x])])
    weight = graph.normal([channels, 1000], channels ** -0.5)
    graph.output(graph.op("Gemm", [x, weight, graph.normal([1000], 0.05)]), "logits", FLOAT, ["batch", 1000])


def bottleneck(graph, x, channels, width, stride):
    y = graph.op("Relu", [conv(graph, x, channels, width, 1)])
    y = graph.op("Relu", [conv(graph, y, width, width, 3, stride)])  # v1.5: the stride is here
    y = conv(graph, y, width, 4 * width, 1, gain=0.5)
    changes = stride != 1 or channels != 4 * width
    shortcut = conv(graph, x, channels, 4 * width, 1, stride, pads=[0] * 4, gain=1) if changes else x
    return graph.op("Relu", [graph.op("Add", [y, shortcut])])


def resnet50(path):
    graph = Graph("resnet50_v1_5")
    x = graph.input("x", FLOAT, ["batch", 3, 224, 224])
    x = graph.op("Relu", [conv(graph, x, 3, 64, 7, 2)])
    x = graph.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            x = bottleneck(graph, x, channels, width, stride if block == 0 else 1)
            channels = 4 * width
    classifier(graph, x, channels)
    graph.save(path)


def inverted_residual(graph, x, channels, filters, expansion, kernel, stride, pads):
    width, y = channels * expansion, x
    if expansion != 1:
        y = relu6(graph, conv(graph, y, channels, width, 1))
    y = relu6(graph, conv(graph, y, width, width, kernel, stride, pads, groups=width))
    joins = stride == 1 and channels == filters
    y = conv(graph, y, width, filters, 1, gain=0.5 if joins else 1)
    return graph.op("Add", [x, y]) if joins else y


def mobile_network(path, name, stages, pads_of):
    """What MobileNetV2 and EfficientNet-lite0 share. Stages: (expansion, filters, blocks, stride, kernel)."""
    graph = Graph(name)
    x = graph.input("x", FLOAT, ["batch", 3, 224, 224])
    x = relu6(graph, conv(graph, x, 3, 32, 3, 2, pads_of(3, 2)))
    channels = 32
    for expansion, filters, blocks, first_stride, kernel in stages:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            x = inverted_residual(graph, x, channels, filters, expansion, kernel, stride, pads_of(kernel, stride))
            channels = filters
    classifier(graph, relu6(graph, conv(graph, x, channels, 1280, 1)), 1280)
    graph.save(path)


def mobilenetv2(path):
    stages = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3),
              (6, 160, 3, 2, 3), (6, 320, 1, 1, 3)]
    mobile_network(path, "mobilenetv2", stages, lambda kernel, stride: [kernel // 2] * 4)


def same_pads(kernel, stride):
    """TensorFlow's "same" for even sizes: the odd one of the padding is at the end."""
    total = kernel - stride
    return [total // 2] * 2 + [total - total // 2] * 2


def efficientnet_lite0(path):
    stages = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
              (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
    mobile_network(path, "efficientnet_lite0", stages, same_pads)
