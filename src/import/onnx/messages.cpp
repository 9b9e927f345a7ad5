#include "import/onnx/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/checked.h"
#include "import/onnx/wire.h"

namespace ingot {
namespace {

// One read() per message. Its cases are the field table: number, name in the schema, where the value goes.
void read(WireReader& r, OnnxProperty& out);
void read(WireReader& r, OnnxOpset& out);
void read(WireReader& r, OnnxTensor& out);
void read(WireReader& r, OnnxSparseTensor& out);
void read(WireReader& r, OnnxDim& out);
void read(WireReader& r, std::vector<OnnxDim>& out);
void read(WireReader& r, OnnxType& out);
void read(WireReader& r, OnnxValueInfo& out);
void read(WireReader& r, OnnxAttribute& out);
void read(WireReader& r, OnnxNode& out);
void read(WireReader& r, OnnxGraph& out);
void read(WireReader& r, OnnxFunction& out);

template <class T>
void append(WireReader& r, const char* name, std::vector<T>& out) {
  WireReader message = r.message({name, out.size()});
  read(message, out.emplace_back());
}

// A field that may occur once. Protobuf would merge a second one into the first; no writer produces that.
template <class T>
void append_once(WireReader& r, const char* name, std::vector<T>& out) {
  WireReader message = r.message(name);
  if (!out.empty()) r.fail(name, "one of them", "a second one");
  read(message, out.emplace_back());
}

template <class T>
void read_once(WireReader& r, const char* name, T& out, bool& seen) {
  WireReader message = r.message(name);
  if (seen) r.fail(name, "one of them", "a second one");
  seen = true;
  read(message, out);
}

void append_text(WireReader& r, const char* name, std::vector<std::string_view>& out) {
  out.push_back(r.text({name, out.size()}));
}

void read(WireReader& r, OnnxProperty& out) {
  while (r.next()) switch (r.field()) {
      case 1: out.key = r.text("key"); break;
      case 2: out.value = r.text("value"); break;
      default: r.skip();
    }
}

void read(WireReader& r, OnnxOpset& out) {
  while (r.next()) switch (r.field()) {
      case 1: out.domain = r.text("domain"); break;
      case 2: out.version = r.int64("version"); break;
      default: r.skip();
    }
}

// The product of the sizes that are not zero is held to this, so that no count, stride or byte size overflows
// later.
constexpr int64_t kMaxElements = int64_t{1} << 62;

void append_dims(WireReader& r, std::vector<int64_t>& dims) {
  const size_t first = dims.size();
  r.append_int64s("dims", dims);
  for (size_t i = first; i < dims.size(); ++i)
    if (dims[i] < 0) r.fail({"dims", i}, "a dimension of at least 0", fmt::format("{}", dims[i]));
}

void check_element_count(const WireReader& r, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim == 0) continue;
    const auto product = try_mul(count, dim);
    if (!product || *product > kMaxElements)
      r.fail("dims", fmt::format("at most {} elements", kMaxElements),
             fmt::format("[{}]", fmt::join(dims, ", ")));
    count = *product;
  }
}

// Counts the entries of one occurrence of a typed data field and proves each well-formed.
int64_t count_values(WireReader& r, OnnxDataField field) {
  const char* name = to_string(field).data();
  if (field == OnnxDataField::string_data) {
    r.bytes(name);
    return 1;
  }
  if (field == OnnxDataField::float_data)
    return static_cast<int64_t>(r.values(name, WireType::fixed32).all().size() / 4);
  if (field == OnnxDataField::double_data)
    return static_cast<int64_t>(r.values(name, WireType::fixed64).all().size() / 8);
  int64_t count = 0;
  for (WireReader list = r.values(name, WireType::varint); !list.at_end(); ++count) list.take_varint();
  return count;
}

void read_data(WireReader& r, OnnxTensor& out) {
  const auto field = static_cast<OnnxDataField>(r.field());
  const bool is_raw = field == OnnxDataField::raw_data;
  if (is_raw) out.raw_data = r.bytes("raw_data");
  const int64_t count = is_raw ? 0 : count_values(r, field);
  if (is_raw ? out.raw_data.empty() : count == 0) return;
  if (out.field != OnnxDataField::none && out.field != field) {
    r.fail(to_string(field).data(), "elements in one data field",
           fmt::format("some in {} and some in {}", to_string(out.field), to_string(field)));
  }
  out.field = field;
  out.value_count += count;
}

void read(WireReader& r, OnnxTensor& out) {
  out.message = r.all();
  out.offset = r.offset();
  while (r.next()) switch (r.field()) {
      case 1: append_dims(r, out.dims); break;
      case 2: out.data_type = r.int32("data_type"); break;
      case 3: r.fail("segment", "a tensor in one piece", "one segment of a tensor", ErrorCode::unsupported);
      case 4:
      case 5:
      case 6:
      case 7:
      case 9:
      case 10:
      case 11: read_data(r, out); break;
      case 8: out.name = r.text("name"); break;
      case 13: append(r, "external_data", out.external_data); break;
      case 14: {
        const int32_t location = r.int32("data_location");
        if (location != 0 && location != 1)
          r.fail("data_location", "0 (inside) or 1 (external)", fmt::format("{}", location));
        out.is_external = location == 1;
        break;
      }
      default: r.skip();
    }
  check_element_count(r, out.dims);
  if (out.data_type == 0) r.missing("data_type");
  if (out.is_external && out.field != OnnxDataField::none)
    r.fail("data_location", "external data only", fmt::format("elements in {} too", to_string(out.field)));
}

void read(WireReader& r, OnnxSparseTensor& out) {
  bool has_values = false;
  bool has_indices = false;
  while (r.next()) switch (r.field()) {
      case 1: read_once(r, "values", out.values, has_values); break;
      case 2: read_once(r, "indices", out.indices, has_indices); break;
      case 3: append_dims(r, out.dims); break;
      default: r.skip();
    }
  check_element_count(r, out.dims);
  if (!has_values) r.missing("values");
  if (!has_indices) r.missing("indices");
}

void read(WireReader& r, OnnxDim& out) {
  while (r.next()) switch (r.field()) {
      case 1: {
        const int64_t value = r.int64("dim_value");
        out = {};
        if (value >= 0) out.value = value;
        break;
      }
      case 2: out = {.value = {}, .param = r.text("dim_param")}; break;
      default: r.skip();
    }
}

void read(WireReader& r, std::vector<OnnxDim>& out) {  // TensorShapeProto
  while (r.next()) {
    if (r.field() == 1)
      append(r, "dim", out);
    else
      r.skip();
  }
}

void read_tensor_type(WireReader&& r, OnnxType& out) {
  bool has_shape = false;
  while (r.next()) switch (r.field()) {
      case 1: out.elem_type = r.int32("elem_type"); break;
      case 2: read_once(r, "shape", out.shape.emplace(), has_shape); break;
      default: r.skip();
    }
}

// Sequence and Optional: the element type is field 1.
void read_element_type(WireReader&& r, OnnxType& out) {
  while (r.next()) {
    if (r.field() == 1)
      append_once(r, "elem_type", out.element);
    else
      r.skip();
  }
  if (out.element.empty()) r.missing("elem_type");
}

void read_map_type(WireReader&& r, OnnxType& out) {
  while (r.next()) switch (r.field()) {
      case 1: out.key_type = r.int32("key_type"); break;
      case 2: append_once(r, "value_type", out.element); break;
      default: r.skip();
    }
  if (out.element.empty()) r.missing("value_type");
}

void read(WireReader& r, OnnxType& out) {
  auto set_kind = [&](OnnxType::Kind kind, const char* name) {
    if (out.kind != OnnxType::Kind::none) r.fail(name, "one kind of type", "a second one");
    out.kind = kind;
    return name;
  };
  using Kind = OnnxType::Kind;
  while (r.next()) switch (r.field()) {
      case 1: read_tensor_type(r.message(set_kind(Kind::tensor, "tensor_type")), out); break;
      case 4: read_element_type(r.message(set_kind(Kind::sequence, "sequence_type")), out); break;
      case 5: read_map_type(r.message(set_kind(Kind::map, "map_type")), out); break;
      case 7: r.bytes(set_kind(Kind::opaque, "opaque_type")); break;
      case 8: read_tensor_type(r.message(set_kind(Kind::sparse_tensor, "sparse_tensor_type")), out); break;
      case 9: read_element_type(r.message(set_kind(Kind::optional, "optional_type")), out); break;
      default: r.skip();
    }
}

void read(WireReader& r, OnnxValueInfo& out) {
  bool has_type = false;
  while (r.next()) switch (r.field()) {
      case 1: out.name = r.text("name"); break;
      case 2: read_once(r, "type", out.type, has_type); break;
      default: r.skip();
    }
  if (out.name.empty()) r.missing("name");
}

// The value fields of an attribute. Returns the attribute type a field belongs to, undefined for other
// fields.
OnnxAttributeType read_value(WireReader& r, OnnxAttribute& out) {
  using Type = OnnxAttributeType;
  switch (r.field()) {
    case 2: out.f = r.float32("f"); return Type::float32;
    case 3: out.i = r.int64("i"); return Type::int64;
    case 4: out.s = r.text("s"); return Type::string;
    case 5: append_once(r, "t", out.tensors); return Type::tensor;
    case 6: append_once(r, "g", out.graphs); return Type::graph;
    case 7: r.append_floats("floats", out.floats); return Type::floats;
    case 8: r.append_int64s("ints", out.ints); return Type::ints;
    case 9: append_text(r, "strings", out.strings); return Type::strings;
    case 10: append(r, "tensors", out.tensors); return Type::tensors;
    case 11: append(r, "graphs", out.graphs); return Type::graphs;
    case 14: append_once(r, "tp", out.types); return Type::type;
    case 15: append(r, "type_protos", out.types); return Type::types;
    case 22: append_once(r, "sparse_tensor", out.sparse_tensors); return Type::sparse_tensor;
    case 23: append(r, "sparse_tensors", out.sparse_tensors); return Type::sparse_tensors;
    default: r.skip(); return Type::undefined;
  }
}

std::string describe(OnnxAttributeType type) { return fmt::format("type {}", static_cast<int>(type)); }

OnnxAttributeType read_attribute_type(WireReader& r) {
  const int32_t type = r.int32("type");
  if (type < 0 || type > static_cast<int>(OnnxAttributeType::types))
    r.fail("type", "an attribute type from 0 to 14", fmt::format("{}", type));
  return static_cast<OnnxAttributeType>(type);
}

// Scalars may be absent: writers that follow proto3 leave out zeros and empty texts. Lists may be empty.
void check_value(const WireReader& r, const OnnxAttribute& out) {
  using Type = OnnxAttributeType;
  if (!out.ref_attr_name.empty()) return;
  switch (out.type) {
    case Type::undefined: r.missing("type");
    case Type::tensor:
      if (out.tensors.empty()) r.missing("t");
      break;
    case Type::graph:
      if (out.graphs.empty()) r.missing("g");
      break;
    case Type::sparse_tensor:
      if (out.sparse_tensors.empty()) r.missing("sparse_tensor");
      break;
    case Type::type:
      if (out.types.empty()) r.missing("tp");
      break;
    default: break;
  }
}

void read(WireReader& r, OnnxAttribute& out) {
  using Type = OnnxAttributeType;
  Type held = Type::undefined;
  while (r.next()) switch (r.field()) {
      case 1: out.name = r.text("name"); break;
      case 20: out.type = read_attribute_type(r); break;
      case 21: out.ref_attr_name = r.text("ref_attr_name"); break;
      default: {
        const Type type = read_value(r, out);
        if (type == Type::undefined) break;
        if (held != Type::undefined && held != type)
          r.fail("", "a value of one type", describe(held) + " and " + describe(type));
        held = type;
      }
    }
  if (out.name.empty()) r.missing("name");
  if (out.type == Type::undefined) out.type = held;
  if (held != Type::undefined && held != out.type)
    r.fail("type", "the type of the value, " + describe(held), describe(out.type));
  check_value(r, out);
}

void read(WireReader& r, OnnxNode& out) {
  out.offset = r.offset();
  while (r.next()) switch (r.field()) {
      case 1: append_text(r, "input", out.inputs); break;
      case 2: append_text(r, "output", out.outputs); break;
      case 3: out.name = r.text("name"); break;
      case 4: out.op_type = r.text("op_type"); break;
      case 5: append(r, "attribute", out.attributes); break;
      case 7: out.domain = r.text("domain"); break;
      case 8: out.overload = r.text("overload"); break;
      case 9: append(r, "metadata_props", out.metadata); break;
      default: r.skip();
    }
  if (out.op_type.empty()) r.missing("op_type");
}

void read(WireReader& r, OnnxGraph& out) {
  while (r.next()) switch (r.field()) {
      case 1: append(r, "node", out.nodes); break;
      case 2: out.name = r.text("name"); break;
      case 5:
        append(r, "initializer", out.initializers);
        if (out.initializers.back().name.empty())
          r.fail({"initializer", out.initializers.size() - 1}, "a name", "none");
        break;
      case 11: append(r, "input", out.inputs); break;
      case 12: append(r, "output", out.outputs); break;
      case 13: append(r, "value_info", out.value_info); break;
      case 15: append(r, "sparse_initializer", out.sparse_initializers); break;
      case 16: append(r, "metadata_props", out.metadata); break;
      default: r.skip();
    }
}

void read(WireReader& r, OnnxFunction& out) {
  while (r.next()) switch (r.field()) {
      case 1: out.name = r.text("name"); break;
      case 4: append_text(r, "input", out.inputs); break;
      case 5: append_text(r, "output", out.outputs); break;
      case 6: append_text(r, "attribute", out.attributes); break;
      case 7: append(r, "node", out.nodes); break;
      case 9: append(r, "opset_import", out.opsets); break;
      case 10: out.domain = r.text("domain"); break;
      case 11: append(r, "attribute_proto", out.attribute_defaults); break;
      case 12: append(r, "value_info", out.value_info); break;
      case 13: out.overload = r.text("overload"); break;
      default: r.skip();
    }
  if (out.name.empty()) r.missing("name");
}

void read(WireReader& r, OnnxModel& out) {
  bool has_graph = false;
  while (r.next()) switch (r.field()) {
      case 1: out.ir_version = r.int64("ir_version"); break;
      case 2: out.producer_name = r.text("producer_name"); break;
      case 3: out.producer_version = r.text("producer_version"); break;
      case 4: out.domain = r.text("domain"); break;
      case 5: out.model_version = r.int64("model_version"); break;
      case 6: out.doc_string = r.text("doc_string"); break;
      case 7: read_once(r, "graph", out.graph, has_graph); break;
      case 8: append(r, "opset_import", out.opsets); break;
      case 14: append(r, "metadata_props", out.metadata); break;
      case 25: append(r, "functions", out.functions); break;
      default: r.skip();
    }
  if (out.ir_version == 0) r.missing("ir_version");
  if (!has_graph) r.missing("graph");
}

// SequenceProto and OptionalProto share their numbers; a sequence may repeat fields 3 to 7, an optional has
// one.
void read(WireReader& r, OnnxValue& out) {
  auto append_value = [&](OnnxValue::Kind kind, const char* name) {
    WireReader message = r.message({name, out.values.size()});
    read(message, out.values.emplace_back(OnnxValue{.kind = kind, .name = {}, .tensors = {}, .values = {}}));
  };
  while (r.next()) switch (r.field()) {
      case 1: out.name = r.text("name"); break;
      case 3: append(r, "tensor_value", out.tensors); break;
      case 4: r.fail("sparse_tensor_value", "tensors", "a sparse tensor", ErrorCode::unsupported);
      case 5: append_value(OnnxValue::Kind::sequence, "sequence_value"); break;
      case 6: r.fail("map_value", "tensors", "a map", ErrorCode::unsupported);
      case 7: append_value(OnnxValue::Kind::optional, "optional_value"); break;
      default: r.skip();
    }
  const size_t count = out.tensors.size() + out.values.size();
  if (out.kind == OnnxValue::Kind::optional && count > 1)
    r.fail("", "an optional of at most one value", fmt::format("{}", count));
}

template <class T>
T parse(std::span<const std::byte> bytes, std::string_view file, T out = {}) {
  WireReader reader(bytes, file);
  read(reader, out);
  return out;
}

}  // namespace

std::string_view to_string(OnnxDataField field) {
  switch (field) {
    case OnnxDataField::none: return "no field";
    case OnnxDataField::float_data: return "float_data";
    case OnnxDataField::int32_data: return "int32_data";
    case OnnxDataField::string_data: return "string_data";
    case OnnxDataField::int64_data: return "int64_data";
    case OnnxDataField::raw_data: return "raw_data";
    case OnnxDataField::double_data: return "double_data";
    case OnnxDataField::uint64_data: return "uint64_data";
  }
  return "an unknown field";
}

OnnxModel parse_onnx_model(std::span<const std::byte> bytes, std::string_view file) {
  return parse<OnnxModel>(bytes, file);
}

OnnxTensor parse_onnx_tensor(std::span<const std::byte> bytes, std::string_view file) {
  return parse<OnnxTensor>(bytes, file);
}

OnnxValue parse_onnx_sequence(std::span<const std::byte> bytes, std::string_view file) {
  return parse<OnnxValue>(bytes, file);
}

OnnxValue parse_onnx_optional(std::span<const std::byte> bytes, std::string_view file) {
  OnnxValue optional;
  optional.kind = OnnxValue::Kind::optional;
  return parse<OnnxValue>(bytes, file, std::move(optional));
}

}  // namespace ingot
