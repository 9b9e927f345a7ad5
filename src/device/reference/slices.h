#pragma once

#include <span>

#include "device/reference/kernel.h"

// Cutting tensors along one axis and putting them together again.
namespace ingot::reference {

// `axis` in [-rank, rank) made non-negative.
int64_t axis_of(const KernelContext& c, int64_t axis, int64_t rank);

// Positions [begin, begin + length) along `axis`, which must be there.
Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t length);

// At least one tensor, end to end along `axis`; equal in type and all other sizes.
Tensor join(const KernelContext& c, std::span<const Tensor> parts, int64_t axis);
// The same along a new axis.
Tensor stack(const KernelContext& c, std::span<const Tensor> parts, int64_t axis);

}  // namespace ingot::reference
