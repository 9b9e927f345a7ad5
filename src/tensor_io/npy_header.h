#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/tensor.h"

namespace ingot {

// What the header of an `.npy` file says, checked: at most 64 dimensions, none negative, fewer than 2^62
// elements, an item of 1 byte to 2^31.
struct NpyHeader {
  bool big_endian = false;
  char kind = 'f';       // of NumPy's dtype: b i u f U S V
  size_t item_size = 0;  // bytes
  std::string descr;     // as written
  bool fortran_order = false;
  Shape shape;
  int64_t count = 0;
  size_t data_offset = 0;  // of the elements in the file
};

NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view file);

// A version 1 header for elements in C order, as numpy.save() writes it. At most 64 dimensions.
std::string format_npy_header(std::string_view descr, const Shape& shape);

}  // namespace ingot
