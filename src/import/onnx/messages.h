#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ingot {

// The messages of an ONNX file as plain structs. Texts, raw data and typed data are views into the bytes that
// were parsed, which must outlive the structs. Names follow the public ONNX schema; numbers are its field
// numbers. Left out, because no importer needs them: documentation of nodes and values, training information,
// quantisation annotations, device placement. Enumerations stay numbers here; see tensor_data.h for element
// types.

struct OnnxProperty {  // StringStringEntryProto
  std::string_view key;
  std::string_view value;
};

// Which field of a TensorProto holds its elements. The values are field numbers.
enum class OnnxDataField : uint8_t {
  none = 0,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
};
std::string_view to_string(OnnxDataField field);

// Checked while parsing: dims are not negative, they hold at most 2^62 elements, at most one data field has
// content, and its typed values are well-formed. Not checked: that the number of values fits the dims;
// decode_tensor() does.
struct OnnxTensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  OnnxDataField field = OnnxDataField::none;
  bool is_external = false;             // the bytes lie in another file, named by external_data
  int64_t value_count = 0;              // entries of a typed data field; 0 for raw_data
  std::span<const std::byte> raw_data;  // little-endian, packed
  std::span<const std::byte> message;   // the whole TensorProto; typed data is decoded from here on demand
  size_t offset = 0;                    // of `message` in the file
  std::vector<OnnxProperty> external_data;
};

struct OnnxSparseTensor {
  OnnxTensor values;  // carries the name
  OnnxTensor indices;
  std::vector<int64_t> dims;
};

// A known size, a named one, or neither. Negative sizes, which old exporters wrote for "unknown", become
// unknown.
struct OnnxDim {
  std::optional<int64_t> value;
  std::string_view param;
};

struct OnnxType {
  enum class Kind : uint8_t { none, tensor, sparse_tensor, sequence, optional, map, opaque };

  Kind kind = Kind::none;
  int32_t elem_type = 0;                      // of a tensor or sparse tensor: a TensorProto data type
  int32_t key_type = 0;                       // of a map
  std::optional<std::vector<OnnxDim>> shape;  // of a tensor or sparse tensor; absent: unknown rank
  std::vector<OnnxType> element;  // exactly one for a sequence, an optional, a map's values; else none
};

struct OnnxValueInfo {
  std::string_view name;
  OnnxType type;
};

struct OnnxGraph;

// The values are those of AttributeProto.AttributeType.
enum class OnnxAttributeType : uint8_t {
  undefined = 0,
  float32 = 1,
  int64 = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};

// Checked while parsing: it has a name, and holds values of its type only. A type that old files leave out is
// set from the value. Single tensors, graphs and types are the one entry of their list.
struct OnnxAttribute {
  std::string_view name;
  std::string_view
      ref_attr_name;  // inside a function: takes the value of the function's attribute of this name
  OnnxAttributeType type = OnnxAttributeType::undefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<OnnxTensor> tensors;
  std::vector<OnnxGraph> graphs;
  std::vector<OnnxSparseTensor> sparse_tensors;
  std::vector<OnnxType> types;
};

struct OnnxNode {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;  // an empty name is an omitted input
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> attributes;
  std::vector<OnnxProperty> metadata;
  size_t offset = 0;  // in the file
};

struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxSparseTensor> sparse_initializers;
  std::vector<OnnxValueInfo> inputs;
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> value_info;
  std::vector<OnnxProperty> metadata;
};

struct OnnxOpset {
  std::string_view domain;  // empty: the standard operators
  int64_t version = 0;
};

struct OnnxFunction {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // without a default
  std::vector<OnnxAttribute> attribute_defaults;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxValueInfo> value_info;
};

struct OnnxModel {
  int64_t ir_version = 0;
  std::vector<OnnxOpset> opsets;
  std::string_view producer_name;
  std::string_view producer_version;
  std::string_view domain;
  int64_t model_version = 0;
  std::string_view doc_string;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
  std::vector<OnnxProperty> metadata;
};

// A SequenceProto or OptionalProto: tensors, or nested sequences and optionals. An optional has one entry or
// none.
struct OnnxValue {
  enum class Kind : uint8_t { sequence, optional };

  Kind kind = Kind::sequence;
  std::string_view name;
  std::vector<OnnxTensor> tensors;
  std::vector<OnnxValue> values;
};

// Each parses one whole file. `file` is named in errors. Throws Error(corrupt), or Error(unsupported) for a
// tensor in segments and for maps and sparse tensors in sequences. Memory and time are linear in the number
// of messages, not in the size of the weights.
OnnxModel parse_onnx_model(std::span<const std::byte> bytes, std::string_view file);
OnnxTensor parse_onnx_tensor(std::span<const std::byte> bytes, std::string_view file);
OnnxValue parse_onnx_sequence(std::span<const std::byte> bytes, std::string_view file);
OnnxValue parse_onnx_optional(std::span<const std::byte> bytes, std::string_view file);

}  // namespace ingot
