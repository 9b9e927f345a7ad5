#pragma once

#include <cstdint>

namespace ingot::reference {

// c[m,n] += a[m,k] * b[k,n], row-major, in blocks that stay in cache. W is double, int64_t or uint64_t (which
// wraps).
template <class W>
void multiply_add(const W* a, const W* b, W* c, int64_t m, int64_t n, int64_t k);

}  // namespace ingot::reference
