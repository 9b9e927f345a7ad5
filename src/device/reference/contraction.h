#pragma once

#include <cstdint>
#include <vector>

#include "ingot/tensor.h"

namespace ingot::reference {

// c[m,n] += a[m,k] * b[k,n], row-major, in blocks that stay in cache. W is double, int64_t or uint64_t (which
// wraps).
template <class W>
void multiply_add(const W* a, const W* b, W* c, int64_t m, int64_t n, int64_t k);

// NumPy's matmul of dense operands of shapes `sa` and `sb`; `result` is the shape it gives.
template <class W>
std::vector<W> matmul(const std::vector<W>& a, const Shape& sa, const std::vector<W>& b, const Shape& sb,
                      const Shape& result);

}  // namespace ingot::reference
