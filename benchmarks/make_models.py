#!/usr/bin/env python3
"""Writes the benchmark models that no package ships, with random weights of a realistic spread.

    benchmarks/make_models.py [FOLDER] [--only NAME...]      default folder: build/benchmarks/models

Weights keep activations normalised through the network, so that no value becomes denormal or overflows. A model that
is there already is kept; --force writes it again. Needs onnx and NumPy, and ONNX Runtime for resnet50_int8;
benchmarks/peers.py --setup makes an environment with all of them.
"""
import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import encoders, llama, vision  # noqa: E402  (the folder of this file is no package)

ROOT = Path(__file__).resolve().parent.parent


def resnet50_int8(path):
    from models import quantized
    source = path.with_name("resnet50.onnx")
    if not source.exists():
        write("resnet50", source)
    quantized.quantize(source, path)


WRITERS = {
    "resnet50": vision.resnet50,
    "mobilenetv2": vision.mobilenetv2,
    "efficientnet_lite0": vision.efficientnet_lite0,
    "minilm": encoders.minilm,
    "bert_base": encoders.bert_base,
    "whisper_encoder": encoders.whisper_encoder,
    "resnet50_int8": resnet50_int8,
    "llama_125m": llama.llama_125m,
    "llama_1b_int4": llama.llama_1b_int4,
}


def write(name, path):
    """The model appears under its name only when it is whole."""
    unfinished = path.with_suffix(".partial")
    WRITERS[name](unfinished if name != "resnet50_int8" else path)
    if unfinished.exists():
        os.replace(unfinished, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "benchmarks" / "models")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=sorted(WRITERS), default=list(WRITERS))
    parser.add_argument("--force", action="store_true", help="write models that are there already")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        path = arguments.folder / f"{name}.onnx"
        if path.exists() and not arguments.force:
            print(f"{path}: there", flush=True)
            continue
        start = time.monotonic()
        write(name, path)
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB in {time.monotonic() - start:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
