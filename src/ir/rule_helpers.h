#pragma once

#include "ir/inference.h"

// Checks and sizes that several rules share.
namespace ingot::rules {

// The product of the sizes from axis `first` on.
Dim product(const Dims& dims, size_t first = 0);

// Throws where operand `i` is there, ranked, and known to hold other than one element.
void require_one_element(const Inference& c, size_t i);

// Throws where operand `i` is there, ranked, and of another rank.
void require_rank(const Inference& c, size_t i, int64_t rank);

}  // namespace ingot::rules
