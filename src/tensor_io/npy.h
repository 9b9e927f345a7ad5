#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingot/tensor.h"

namespace ingot {

// Reads the bytes of an `.npy` file, format versions 1 to 3, of either byte order and either array order.
// Text arrays (`U`, `S`) become strings. `wanted` says what the bytes of a type that NumPy lacks (`V1`, `V2`)
// are; it never converts anything else. Shares the memory of `owner` where nothing must be moved or
// converted; the result is aligned. `file` is named in errors. Throws Error: corrupt; unsupported for object,
// complex, date and structured arrays; invalid_argument for `V1` and `V2` without a `wanted` of that width.
Tensor parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string_view file,
                 std::optional<DType> wanted = std::nullopt);

// Publishes `tensor` under `path`, whole or not at all, as NumPy and ml_dtypes write it, except for f8e5m2:
// ml_dtypes calls it `<f1`, which NumPy refuses to read, so it is `<V1` like its relatives. Strings become
// `U`, or `S` where one is not UTF-8; both lose NUL characters at the end of a string. Throws Error(device)
// and what AtomicFile throws.
void write_npy(const Tensor& tensor, const std::string& path);

}  // namespace ingot
