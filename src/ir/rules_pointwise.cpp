#include "ir/rules.h"

namespace ingot::rules {
namespace {

// The broadcast type of operands [first, last], with the given element type.
Type broadcast_type(const Inference& c, size_t first, size_t last, DType dtype) {
  Dims dims;
  for (size_t i = first; i <= last; ++i) {
    if (!c.is_ranked(i)) return Type::unranked(dtype);
    auto merged = broadcast(dims, c.dims(i));
    if (!merged)
      c.fail(static_cast<int>(i), "a shape that broadcasts with " + to_string(dims), to_string(c.dims(i)));
    dims = std::move(*merged);
  }
  return Type::tensor(dtype, std::move(dims));
}

}  // namespace

void same_as_first(Inference& c) { c.set(0, c.type(0)); }

void predicate(Inference& c) {
  Type type = c.type(0);
  type.dtype = DType::boolean;
  c.set(0, std::move(type));
}

void cast_type(Inference& c) {
  Type type = c.type(0);
  type.dtype = c.attrs<CastAttrs>().to;
  c.set(0, std::move(type));
}

void bit_cast_type(Inference& c) {
  DType from = c.dtype(0), to = c.attrs<BitCastAttrs>().to;
  if (to == DType::string || bit_width(from) != bit_width(to))
    c.fail(-1, fmt::format("a type of {} bits", bit_width(from)), std::string(to_string(to)));
  Type type = c.type(0);
  type.dtype = to;
  c.set(0, std::move(type));
}

void broadcast(Inference& c) {
  c.require_same_dtype(0, 1);
  c.set(0, broadcast_type(c, 0, 1, c.dtype(0)));
}

void broadcast_three(Inference& c) {
  c.require_same_dtype(0, 1);
  c.require_same_dtype(0, 2);
  c.set(0, broadcast_type(c, 0, 2, c.dtype(0)));
}

void broadcast_first_type(Inference& c) { c.set(0, broadcast_type(c, 0, 1, c.dtype(0))); }

void comparison(Inference& c) {
  c.require_same_dtype(0, 1);
  c.set(0, broadcast_type(c, 0, 1, DType::boolean));
}

void select_type(Inference& c) {
  c.require_same_dtype(1, 2);
  c.set(0, broadcast_type(c, 0, 2, c.dtype(1)));
}

}  // namespace ingot::rules
