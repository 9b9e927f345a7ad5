// Any bytes must either be read or be refused with an Error: no crash, no leak, no other exception. Every
// tensor that is read is decoded as well. The first byte picks the message, so that one corpus serves all
// four.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "import/onnx/messages.h"
#include "import/onnx/tensor_data.h"
#include "ingot/error.h"

namespace ingot {
namespace {

void decode(const OnnxTensor& tensor) {
  try {
    decode_tensor(tensor, {.file = "fuzz", .owner = {}, .external = nullptr});
  } catch (const Error&) {
  }
}

void decode_all(const std::vector<OnnxTensor>& tensors) {
  for (const OnnxTensor& tensor : tensors) decode(tensor);
}

void decode_graph(const OnnxGraph& graph) {
  decode_all(graph.initializers);
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxAttribute& attribute : node.attributes) {
      decode_all(attribute.tensors);
      for (const OnnxGraph& inner : attribute.graphs) decode_graph(inner);
    }
  }
}

void decode_value(const OnnxValue& value) {
  decode_all(value.tensors);
  for (const OnnxValue& inner : value.values) decode_value(inner);
}

void read(uint8_t kind, std::span<const std::byte> bytes) {
  switch (kind % 4) {
    case 0: decode_graph(parse_onnx_model(bytes, "fuzz").graph); break;
    case 1: decode(parse_onnx_tensor(bytes, "fuzz")); break;
    case 2: decode_value(parse_onnx_sequence(bytes, "fuzz")); break;
    default: decode_value(parse_onnx_optional(bytes, "fuzz")); break;
  }
}

}  // namespace
}  // namespace ingot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    ingot::read(data[0], std::as_bytes(std::span(data + 1, size - 1)));
  } catch (const ingot::Error&) {
  }
  return 0;
}
