#!/usr/bin/env python3
"""Fits the polynomials and rational functions of src/kernel/llvm/math_coefficients.h and writes that file to stdout.

Each fit minimises the largest weighted error over an interval by Lawson's method: least squares, repeated with weights
that grow where the error is large; the denominators of rational functions are fitted with it, linearised around the
last ones. Needs mpmath and NumPy. Usage: tools/fit_functions.py > src/kernel/llvm/math_coefficients.h
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 40
POINTS, ROUNDS = 1201, 60


def fit(f, low, high, degree, denominator=0, weight=None, rounds=ROUNDS):
    """Coefficients, lowest first, of p/q with q(0) = 1, that is close to f; and the largest error times weight."""
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + 0.5) / POINTS) for i in range(POINTS)]
    x = np.array([float(t) for t in nodes], dtype=np.longdouble)
    y = np.array([np.longdouble(mp.nstr(f(t), 25)) for t in nodes])
    w = np.array([np.longdouble(mp.nstr(weight(t), 25)) for t in nodes]) if weight else 1 / abs(y)
    lawson, q = np.ones(POINTS, dtype=np.longdouble), np.ones(POINTS, dtype=np.longdouble)
    best = None
    scale = np.longdouble(max(abs(low), abs(high)))
    z = x / scale
    columns = [z**k for k in range(degree + 1)] + [-y * z**k for k in range(1, denominator + 1)]
    for _ in range(rounds):
        row = np.sqrt(lawson) * w / q
        a = np.stack([c * row for c in columns], axis=1)
        solution = solve(a, y * row)
        p = sum(c * z**k for k, c in enumerate(solution[: degree + 1]))
        q = 1 + sum(c * z**k for k, c in enumerate(solution[degree + 1:], 1))
        error = abs(p / q - y) * w
        if best is None or error.max() < best[1]:
            best = (solution, error.max())
        lawson = lawson * error
        lawson /= lawson.sum()
    top = [float(c / scale**k) for k, c in enumerate(best[0][: degree + 1])]
    bottom = [1.0] + [float(c / scale**k) for k, c in enumerate(best[0][degree + 1:], 1)]
    return top, bottom, float(best[1])


def solve(a, b):
    """Least squares by QR in extended precision, which numpy.linalg lacks."""
    a, b = a.copy(), b.copy()
    n = a.shape[1]
    r = np.zeros((n, n), dtype=np.longdouble)
    for k in range(n):
        for _ in range(2):  # orthogonalised twice
            for j in range(k):
                d = a[:, j] @ a[:, k]
                r[j, k] += d
                a[:, k] -= d * a[:, j]
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        a[:, k] /= r[k, k]
    c = a.T @ b
    x = np.zeros(n, dtype=np.longdouble)
    for k in reversed(range(n)):
        x[k] = (c[k] - r[k, k + 1:] @ x[k + 1:]) / r[k, k]
    return x


def show(name, comment, coefficients, error):
    values = ", ".join(f"{c:.13g}" for c in coefficients)
    print(f"// {comment}; within {error:.1e}.\ninline constexpr double k{name}[] = {{{values}}};")


def log1p_rest(u):  # log(1 + u) = u - u^2 / 2 + u^3 * rest
    if abs(u) < mp.mpf("1e-6"):
        return mp.mpf(1) / 3 - u / 4 + u * u / 5
    return (mp.log1p(u) - u + u * u / 2) / u**3


def exp_rest(r):  # exp(r) = 1 + r + r^2 * rest
    return mp.mpf(1) / 2 + r / 6 + r * r / 24 if abs(r) < mp.mpf("1e-6") else (mp.expm1(r) - r) / r**2


def odd(f, slope):
    """f(sqrt(s)) / sqrt(s): what an odd function is but for a factor x."""
    return lambda s: slope if s < mp.mpf("1e-12") else f(mp.sqrt(s)) / mp.sqrt(s)


def odd_rest(f, slope, cubic):
    """rest in f(x) = slope * x + x^3 * rest(x^2)."""
    def rest(s):
        x = mp.sqrt(s)
        return cubic if s < mp.mpf("1e-8") else (f(x) - slope * x) / x**3
    return rest


def cos_rest(s):  # cos(x) = 1 - s / 2 + s^2 * rest(s), s = x^2
    return mp.mpf(1) / 24 - s / 720 if s < mp.mpf("1e-8") else (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2


def gelu_tail(a):  # exp(a^2 / 2) * erfc(a / sqrt(2)) / 2
    return mp.exp(a * a / 2) * mp.erfc(a / mp.sqrt(2)) / 2


def well_rounded(top, bottom, f, low, high):
    """Both times the factor for which rounding them to f32 costs least."""
    x = np.linspace(low + (high - low) * 1e-9, high, 400)
    y = np.array([float(f(mp.mpf(t))) for t in x])
    best = None
    for factor in np.random.default_rng(1).uniform(0.5, 2, 4000):
        p, q = (np.float32(np.array(c) * factor).astype(float) for c in (top, bottom))
        error = abs(np.polyval(p[::-1], x) / np.polyval(q[::-1], x) / y - 1).max()
        if best is None or error < best[2]:
            best = (list(p), list(q), float(error))
    return best


def polynomial(name, comment, f, low, high, degree, weight=None):
    top, _, error = fit(f, mp.mpf(low), mp.mpf(high), degree, 0, weight)
    show(name, comment, top, error)


def rational(name, comment, f, low, high, degree, denominator, weight=None):
    top, bottom, error = fit(f, mp.mpf(low), mp.mpf(high), degree, denominator, weight)
    top, bottom, error = well_rounded(top, bottom, f, float(low), float(high))
    show(name + "Top", comment + ", numerator", top, error)
    show(name + "Bottom", "its denominator", bottom, error)


def main():
    print("#pragma once\n\n// Written by tools/fit_functions.py: coefficients, lowest first, and the largest relative error of each fit.\n"
          "namespace ingot::kernel {\n")
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.001")
    polynomial("Exp", "(exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2", exp_rest, -half_ln2, half_ln2, 4,
               lambda r: r * r / mp.exp(r) + mp.mpf("1e-6"))
    low, high = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1
    polynomial("Log", "(log(1 + u) - u + u^2 / 2) / u^3 on sqrt(1/2) <= 1 + u <= sqrt(2)", log1p_rest, low, high, 8,
               lambda u: abs(u**3 / mp.log1p(u)) + mp.mpf("1e-5") if u else mp.mpf("1e-5"))
    polynomial("Log1p", "log(1 + e) / e on 0 <= e <= 1", lambda e: mp.log1p(e) / e, "1e-9", 1, 9)
    rational("Tanh", "tanh(x) / x in x^2 on |x| <= 9.02", odd(mp.tanh, mp.mpf(1)), 0, mp.mpf("9.02")**2, 4, 4)
    rational("Erf", "erf(x) / x in x^2 on |x| <= 3.93", odd(mp.erf, 2 / mp.sqrt(mp.pi)), 0, mp.mpf("3.93")**2, 5, 5)
    rational("GeluTail", "exp(a^2 / 2) * erfc(a / sqrt(2)) / 2 on 0 <= a <= 13.5", gelu_tail, 0, "13.5", 4, 5)
    quarter = mp.pi / 4 * mp.mpf("1.001")
    polynomial("Sin", "(sin(x) - x) / x^3 in x^2 on |x| <= pi / 4", odd_rest(mp.sin, 1, -mp.mpf(1) / 6), 0, quarter**2, 2,
               lambda s: s + mp.mpf("1e-4"))
    polynomial("Cos", "(cos(x) - 1 + x^2 / 2) / x^4 in x^2 on |x| <= pi / 4", cos_rest, 0, quarter**2, 2,
               lambda s: s * s + mp.mpf("1e-4"))
    polynomial("Asin", "(asin(x) - x) / x^3 in x^2 on |x| <= 1/2", odd_rest(mp.asin, 1, mp.mpf(1) / 6), 0, "0.2501", 4,
               lambda s: s + mp.mpf("1e-4"))
    polynomial("Atan", "(atan(x) - x) / x^3 in x^2 on |x| <= 1", odd_rest(mp.atan, 1, -mp.mpf(1) / 3), 0, "1.0001", 7,
               lambda s: s + mp.mpf("1e-4"))
    polynomial("Atanh", "(atanh(x) - x) / x^3 in x^2 on |x| <= 3 - sqrt(8)", odd_rest(mp.atanh, 1, mp.mpf(1) / 3), 0,
               (3 - mp.sqrt(8))**2 * mp.mpf("1.001"), 3, lambda s: s + mp.mpf("1e-7"))
    polynomial("Exp2", "2^f on |f| <= 1/2", lambda f: mp.mpf(2)**f, "-0.5001", "0.5001", 6)
    print("\n}  // namespace ingot::kernel")


if __name__ == "__main__":
    main()
