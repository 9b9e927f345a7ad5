#pragma once

#include "kernel/llvm/vector_value.h"

// Functions of f32 vectors, over the whole range of floats; math_test.cpp states their errors.
namespace ingot::kernel::math {

Vec exp(Vec x);
// exp(x) * factor, a power of two, without overflow or underflow between.
Vec exp(Vec x, double factor);
// exp(x + low) * factor for |x| < 150 and NaN; `low` is small beside x.
Vec exp_of_parts(Vec x, Vec low, double factor);
// p * 2^n for whole n, |n| < 250, and p between 2^-30 and 2^30.
Vec scale(Vec p, Vec n);
Vec expm1(Vec x);
Vec log(Vec x);
Vec log1p(Vec x);
Vec pow(Vec x, Vec y);

Vec tanh(Vec x);
Vec sinh(Vec x);
Vec cosh(Vec x);
Vec asinh(Vec x);
Vec acosh(Vec x);
Vec atanh(Vec x);

Vec sin(Vec x);
Vec cos(Vec x);
Vec tan(Vec x);
Vec asin(Vec x);
Vec acos(Vec x);
Vec atan(Vec x);

Vec erf(Vec x);
Vec sigmoid(Vec x);
Vec softplus(Vec x);
Vec gelu_erf(Vec x);
Vec gelu_tanh(Vec x);
Vec swish(Vec x, double alpha);
Vec mish(Vec x);

}  // namespace ingot::kernel::math
