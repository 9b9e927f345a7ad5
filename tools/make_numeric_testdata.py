#!/usr/bin/env python3
"""Writes src/ir/testdata/numeric.txt: expected conversions of the small float formats.

Values of codes come from ml_dtypes. Encoded values are found by exact rational arithmetic on that table, because
ml_dtypes itself rounds some doubles twice; where the input is exact in float32 the two are checked to agree.

Lines (hexadecimal unless stated):
  v TYPE CODE DOUBLE          the code stands for this value (bits of a double; every NaN is 7ff8...)
  h TYPE HASH                 FNV-1a 64 over the little-endian doubles of all codes, for the 16-bit types
  e TYPE SATURATE DOUBLE CODE encoding of a finite value or infinity
  m ROUND SATURATE DOUBLE CODE  the same for f8e8m0, with up, down or nearest
  i TYPE DECIMAL CODE         encoding of a 64-bit integer, not saturating
Needs numpy and ml_dtypes. Usage: tools/make_numeric_testdata.py > src/ir/testdata/numeric.txt
"""
import random
import struct
from bisect import bisect_right
from fractions import Fraction

import ml_dtypes
import numpy as np

FORMATS = {
    "f16": (np.float16, 16, 0x7C00),
    "bf16": (ml_dtypes.bfloat16, 16, 0x7F80),
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 8, 0x7F),
    "f8e5m2": (ml_dtypes.float8_e5m2, 8, 0x7C),
    "f8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 8, 0x80),
    "f8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 8, 0x80),
    "f4e2m1": (ml_dtypes.float4_e2m1fn, 4, None),
}


def bits_of(value):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", value))[0] if value == value else "7ff8000000000000"


def value_table(dtype, bits):
    codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        return codes.view(dtype).astype(np.float64)


def fnv(data):
    state = 0xCBF29CE484222325
    for byte in data:
        state = ((state ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return state


class Encoder:
    """Nearest, ties to the even code, of non-negative values of one format."""

    def __init__(self, name):
        self.name = name
        self.dtype, bits, self.overflow = FORMATS[name]
        table = value_table(self.dtype, bits)
        self.sign = 1 << (bits - 1)
        finite = [float(v) for v in table[: self.sign] if np.isfinite(v)]
        self.largest = len(finite) - 1
        # One step above the largest value, where rounding would go if the exponent had no end.
        self.values = [Fraction(v) for v in finite]
        self.values.append(2 * self.values[-1] - self.values[-2])

    def code(self, value, saturate):
        negative = value < 0
        magnitude = None if value in (float("inf"), float("-inf")) else abs(Fraction(value))
        if magnitude is None or magnitude >= self.values[-1]:
            code = self.largest + 1
        else:
            low = bisect_right(self.values, magnitude) - 1
            below, above = magnitude - self.values[low], self.values[low + 1] - magnitude
            code = low + (above < below or (above == below and low & 1 == 1))
        if code > self.largest:
            clamps = self.name == "f4e2m1" or (saturate and self.name.startswith("f8"))
            code = self.largest if clamps else self.overflow
        if self.name.endswith("uz"):
            return code | self.sign if negative and code not in (0, 0x80) else code
        return code | (self.sign if negative else 0)

    def check_against_ml_dtypes(self, value, code):
        with np.errstate(over="ignore", invalid="ignore"):
            if np.float64(np.float32(value)) != value or abs(value) < 2.0**-120:
                return
            other = np.array([value], np.float32).astype(self.dtype)
        other = int(other.view(np.uint16 if self.sign == 0x8000 else np.uint8)[0])
        assert other == code, (self.name, value, other, code)


def neighbours(value):
    return [float(np.nextafter(value, -np.inf)), value, float(np.nextafter(value, np.inf))]


def encode_inputs(encoder, rng):
    positions = range(encoder.largest + 1)
    if encoder.largest > 300:
        edges = [0, 1, 2, 3, encoder.largest - 1, encoder.largest]
        first_normal = 1 << (10 if encoder.name == "f16" else 7)
        edges += [first_normal - 2, first_normal - 1, first_normal]
        positions = sorted(set(edges + rng.sample(list(positions), 60)))
    inputs = [0.0, 5e-324, float("inf"), 1.7976931348623157e308]
    for p in positions:
        inputs.append(float(encoder.values[p]))
        inputs += neighbours(float((encoder.values[p] + encoder.values[p + 1]) / 2))
    top = float(encoder.values[-1])
    return sorted(set(inputs + neighbours(top) + [2 * top]))


def e8m0_code(value, how, saturate):
    """From the table of the ONNX Cast operator; a value is out of range after rounding."""
    if value == float("inf"):
        return 0xFE if saturate else 0xFF
    if value == 0:
        return 0 if saturate else 0xFF
    exact = Fraction(value)
    low = 0
    while Fraction(2) ** low > exact:
        low -= 1
    while Fraction(2) ** (low + 1) <= exact:
        low += 1
    power = Fraction(2) ** low
    up = {"up": exact > power, "down": False, "nearest": exact >= power * Fraction(3, 2)}[how]
    code = low + 127 + up
    if how == "up" and code < 0:
        return 0
    if 0 <= code <= 254:
        return code
    return (0 if code < 0 else 254) if saturate else 0xFF


def integer_inputs(rng):
    inputs = [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1]
    for exponent in (20, 54, 60, 62):
        half = 2 ** (exponent - 8)  # half a step of bf16 there
        for multiple in (1, 3):
            inputs += [2**exponent + multiple * half + d for d in (-1, 0, 1)]
    return inputs + [-v for v in inputs if 0 < v < 2**63 - 1] + [rng.getrandbits(62) for _ in range(20)]


def main():
    rng = random.Random(1)
    for name, (dtype, bits, _) in FORMATS.items():
        table = value_table(dtype, bits)
        if bits == 16:
            table = np.where(np.isnan(table), np.nan, table)
            print("h %s %016x" % (name, fnv(b"".join(struct.pack("<Q", int(bits_of(v), 16)) for v in table))))
        else:
            for code, value in enumerate(table):
                print("v %s %02x %s" % (name, code, bits_of(value)))
        encoder = Encoder(name)
        for value in encode_inputs(encoder, rng):
            for saturate in (0, 1):
                if saturate and value < encoder.values[encoder.largest]:
                    continue  # decided as without
                code = encoder.code(value, saturate)
                if not saturate and name != "f4e2m1":
                    encoder.check_against_ml_dtypes(value, code)
                print("e %s %d %s %x" % (name, saturate, bits_of(value), code))
    for code, value in enumerate(value_table(ml_dtypes.float8_e8m0fnu, 8)):
        print("v f8e8m0 %02x %s" % (code, bits_of(value)))
    for how in ("up", "down", "nearest"):
        for exponent in (-130, -129, -128, -127, -126, -1, 0, 1, 126, 127, 128):
            for factor in (1.0, 1.0 + 2**-52, 1.25, 1.5 - 2**-52, 1.5, 1.75):
                for saturate in (0, 1):
                    value = factor * 2.0**exponent
                    print("m %s %d %s %02x" % (how, saturate, bits_of(value), e8m0_code(value, how, saturate)))
        for value in (0.0, float("inf")):
            for saturate in (0, 1):
                print("m %s %d %s %02x" % (how, saturate, bits_of(value), e8m0_code(value, how, saturate)))
    for name in ("f16", "bf16", "f8e5m2"):
        encoder = Encoder(name)
        for value in integer_inputs(rng):
            print("i %s %d %x" % (name, value, encoder.code(Fraction(value), False)))


if __name__ == "__main__":
    main()
