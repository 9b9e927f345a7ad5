"""ResNet-50 in 8 bits: activations u8, weights s8 per channel, as QuantizeLinear and DequantizeLinear pairs."""
import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static


class Images(CalibrationDataReader):
    def __init__(self, count=4):
        random = np.random.default_rng(1)
        self.images = iter([{"x": random.standard_normal((1, 3, 224, 224), dtype=np.float32)} for _ in range(count)])

    def get_next(self):
        return next(self.images, None)


def quantize(source, path):
    """With ONNX Runtime's static quantiser."""
    quantize_static(source, path, Images(), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
