#pragma once

#include <cstdint>

namespace ingot::cpu {

// to[i * to_stride + j] = from[i + j * from_stride] for i < rows, j < columns; T has 1, 2, 4 or 8 bytes.
template <class T>
void transpose_block(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                     int64_t columns);

}  // namespace ingot::cpu
