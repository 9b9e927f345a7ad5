#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ingot/tensor.h"
#include "ingot/type.h"

namespace ingot {

// What a file is to become.
struct WantedDatum {
  std::string name;            // of the input; picks the member of an archive
  Type type;                   // decides what files mean that do not say it themselves; never converted to
  std::optional<Shape> shape;  // of `.raw` files, where `type` leaves a size open
};

// Reads `.npy`, `.npz` (the member called like the input, or the only one), `.pb` (an ONNX tensor, sequence
// or optional, by `type`) or `.raw` (little-endian elements without a header, packed as in memory), told
// apart by the ending of `path`. Throws Error that names the file: not_found, corrupt, unsupported;
// invalid_argument for another ending, and for a `.raw` file whose shape is not known or whose size does not
// fit it.
Datum read_datum_file(const std::string& path, const WantedDatum& wanted);

// ONNX test data: an empty file is an empty sequence or optional.
Datum read_onnx_datum(const std::string& path, const Type& type);

// All arrays of an `.npz` archive, by name without the ending ".npy"; `types` tells the types of those that
// NumPy lacks.
std::map<std::string, Tensor> read_npz(const std::string& path,
                                       const std::map<std::string, DType>& types = {});

}  // namespace ingot
