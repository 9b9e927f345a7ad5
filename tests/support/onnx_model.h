#pragma once
// Small ONNX models as bytes, for tests. The field numbers are those of the public schema.

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/wire_bytes.h"

namespace ingot::onnx_model {

using wire_bytes::block;
using wire_bytes::number;

enum Element { f32 = 1, i32 = 6, i64 = 7 };

inline std::string texts(uint32_t field, const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += block(field, item);
  return out;
}

// Attributes: each gives the bytes of one.
inline std::string int_attribute(std::string_view name, int64_t value) {
  return block(5, block(1, name) + number(3, value) + number(20, 2));
}
inline std::string graph_attribute(std::string_view name, const std::string& graph) {
  return block(5, block(1, name) + block(6, graph) + number(20, 5));
}
inline std::string tensor_attribute(std::string_view name, const std::string& tensor) {
  return block(5, block(1, name) + block(5, tensor) + number(20, 4));
}

// A field of a graph.
inline std::string node(std::string_view op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& attributes = {},
                        std::string_view name = {}) {
  return block(1, texts(1, inputs) + texts(2, outputs) + block(3, name) + block(4, op) + attributes);
}

// Sizes: a number, or the name of a symbol.
inline std::string tensor_type(int element, const std::vector<std::string>& sizes) {
  std::string dims;
  for (const std::string& size : sizes) {
    const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
    dims += block(1, is_number ? number(1, std::stoll(size)) : block(2, size));
  }
  return block(1, number(1, element) + block(2, dims));
}
inline std::string value_info(std::string_view name, const std::string& type) {
  return block(1, name) + block(2, type);
}
// Fields of a graph.
inline std::string input(std::string_view name, int element, const std::vector<std::string>& sizes) {
  return block(11, value_info(name, tensor_type(element, sizes)));
}
inline std::string output(std::string_view name, int element, const std::vector<std::string>& sizes) {
  return block(12, value_info(name, tensor_type(element, sizes)));
}

// The bytes of a tensor whose data is `data`, fields of TensorProto.
inline std::string tensor(std::string_view name, int element, const std::vector<int64_t>& dims,
                          const std::string& data) {
  std::string out;
  for (int64_t d : dims) out += number(1, d);
  return out + number(2, element) + block(8, name) + data;
}
inline std::string raw(std::string_view bytes) { return block(9, bytes); }
inline std::string external(std::string_view location) {
  return block(13, block(1, "location") + block(2, location)) + number(14, 1);
}
inline std::string initializer(const std::string& tensor) { return block(5, tensor); }

inline std::string model(const std::string& graph, int64_t opset = 17) {
  return number(1, 8) + block(7, block(2, "main") + graph) + block(8, number(2, opset));
}

// y = relu(x + w): x is f32[n, 3], w a weight of 3.
inline std::string small_model() {
  const std::string w("\0\0\x80\x3f\0\0\0\xc0\0\0\0\0", 12);  // 1, -2, 0
  return model(node("Add", {"x", "w"}, {"sum"}, {}, "/add") + node("Relu", {"sum"}, {"y"}, {}, "/relu") +
               initializer(tensor("w", f32, {3}, raw(w))) + input("x", f32, {"n", "3"}) +
               output("y", f32, {"n", "3"}));
}

}  // namespace ingot::onnx_model
