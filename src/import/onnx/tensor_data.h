#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/messages.h"
#include "ingot/dtype.h"

namespace ingot {

class OnnxAlignedCopies;
class OnnxExternalFiles;

// The element type of a TensorProto.DataType number. Throws Error(unsupported) for complex numbers and for
// numbers newer than this build, Error(corrupt) for 0 and below; `name` says in the message which tensor or
// value it is.
DType dtype_from_onnx(int32_t data_type, std::string_view name);

// Where the messages of a file come from.
struct OnnxSource {
  std::string file;                       // named in errors
  std::shared_ptr<const void> owner;      // keeps the parsed bytes alive; empty: the caller does
  OnnxExternalFiles* external = nullptr;  // empty: tensors with external data are refused
  OnnxAlignedCopies* copies = nullptr;    // empty: unaligned tensors are copied each time
};

// The elements of a tensor in the form that the rest of the library uses: row-major, little-endian, 2- and
// 4-bit types packed low bits first with zeros behind the last element, booleans 0 or 1.
struct OnnxTensorData {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  int64_t count = 0;                 // product of dims
  std::span<const std::byte> bytes;  // at any alignment; empty for strings
  std::shared_ptr<const void>
      owner;  // of bytes: the source's owner, the mapped data file, or a buffer of its own
  std::vector<std::string> strings;  // `count` of them for DType::string
};

// Reads the elements from whichever field or file holds them. Raw data, float_data, double_data and external
// files are not copied. Throws Error(corrupt) where the size of the data does not match the shape, a value
// does not fit its type or lies in a field of another type; what dtype_from_onnx() and
// OnnxExternalFiles::read() throw; Error(unsupported) for external data without `source.external`.
OnnxTensorData decode_tensor(const OnnxTensor& tensor, const OnnxSource& source);

}  // namespace ingot
