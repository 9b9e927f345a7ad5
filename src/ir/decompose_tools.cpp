#include "ir/decompose_tools.h"

namespace ingot {

Value convert(GraphBuilder& g, Value x, DType dtype) {
  return g.dtype(x) == dtype ? x : g.cast(x, {.to = dtype});
}

Value widen(GraphBuilder& g, Value x, DType with) {
  bool is_double = g.dtype(x) == DType::f64 || with == DType::f64;
  return convert(g, x, is_double ? DType::f64 : DType::f32);
}

}  // namespace ingot
