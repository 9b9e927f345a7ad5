#include "import/onnx/message_readers.h"

namespace ingot {
namespace {

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

}  // namespace

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

}  // namespace ingot
