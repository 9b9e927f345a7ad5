#pragma once

#include "device/cpu/block_weights.h"

// One row of x times packed weights in integers, where the processor multiplies bytes (AVX-512 VNNI), as
// exactly as in floats: each block of x becomes a scale and integers of 22 bits, which three signed bytes
// make up. Floats would have to be made of every weight; bytes keep pace with the memory.
namespace ingot::cpu {

bool has_block_digits(const BlockLayout& layout);  // on this processor, for blocks of this size
int64_t block_digit_floats(const BlockLayout& layout);

// Turns a row of layout.depth numbers into `digits`. False where it holds what digits cannot: infinities,
// NaN, or nothing but numbers near the smallest in a block.
bool make_block_digits(const BlockLayout& layout, const float* x, float* digits);

// The 64 columns of a panel.
void multiply_block_digits(const BlockLayout& layout, const std::byte* panel, const float* digits,
                           float* out);

}  // namespace ingot::cpu
