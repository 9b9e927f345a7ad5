#pragma once

#include "base/thread_pool.h"
#include "device/cpu/view.h"

namespace ingot::cpu {

// Moves each element of `from` to the same position of `to`: equal sizes, elements of equal width, a byte at
// least; the memory of the two does not overlap, or each element has its place already. `to` repeats no
// element. Views that differ in the order of their strides (transpositions) are moved in blocks that use
// whole cache lines on both sides.
void copy(const View& from, const View& to, ThreadPool& pool);

// Sets every element of `to` to the one that `element` points to.
void fill(const std::byte* element, const View& to, ThreadPool& pool);

}  // namespace ingot::cpu
