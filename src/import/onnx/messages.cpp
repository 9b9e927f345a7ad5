#include "import/onnx/messages.h"

#include <fmt/format.h>

#include <string>

#include "import/onnx/message_readers.h"

namespace ingot {
namespace {

void append_text(WireReader& r, const char* name, std::vector<std::string_view>& out) {
  out.push_back(r.text({name, out.size()}));
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

template <class T>
T parse(std::span<const std::byte> bytes, std::string_view file, T out = {}) {
  WireReader reader(bytes, file);
  read(reader, out);
  return out;
}

}  // namespace

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
