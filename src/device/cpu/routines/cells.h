#pragma once

#include <cstdint>

#include "device/cpu/view.h"
#include "ingot/error.h"

namespace ingot::cpu {

// Elements that are only moved are cells of their width. Calls f with a zero of the cell type; types without
// one (strings, packed ones) must have been refused before.
template <class F>
decltype(auto) with_cell(DType dtype, F f) {
  switch (bit_width(dtype)) {
    case 64: return f(uint64_t{});
    case 32: return f(uint32_t{});
    case 16: return f(uint16_t{});
    case 8: return f(uint8_t{});
  }
  throw Error({.code = ErrorCode::internal,
               .object = "element type",
               .expected = "whole bytes",
               .observed = std::string(to_string(dtype))});
}
inline bool is_cell(DType dtype) { return bit_width(dtype) >= 8; }

template <class T>
T* elements(const View& view) {
  return reinterpret_cast<T*>(view.data);
}

}  // namespace ingot::cpu
