#include <fmt/format.h>

#include "base/checked.h"
#include "import/onnx/message_readers.h"

namespace ingot {
namespace {

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

}  // namespace

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

}  // namespace ingot
