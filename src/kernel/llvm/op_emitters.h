#pragma once

#include "kernel/llvm/vector_value.h"

// The parts of emit_op. Types are those of elements in expressions; vectors are of them.
namespace ingot::kernel {

bool is_signed(DType dtype);  // how integers compare, divide and widen

// As NumPy's maximum and minimum: NaN wins.
Vec larger(DType dtype, Vec a, Vec b);
Vec smaller(DType dtype, Vec a, Vec b);
Vec less(DType dtype, Vec a, Vec b);

// With the rules of the reference device: division by zero gives 0, results wrap.
Vec divide_integers(DType dtype, Vec a, Vec b);
Vec modulo_integers(DType dtype, Vec a, Vec b, bool truncate);
Vec shift(Op op, Vec a, Vec b);

// `is_small`: the value is known to lie within 32 bits, or to be NaN.
Vec cast(DType from, DType to, Vec x, bool is_small);
Vec bit_cast(DType from, DType to, Vec x);

}  // namespace ingot::kernel
