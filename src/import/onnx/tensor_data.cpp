#include "import/onnx/tensor_data.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "import/onnx/external_data.h"
#include "import/onnx/remedies.h"
#include "import/onnx/wire.h"
#include "ingot/error.h"

namespace ingot {
namespace {

struct TypeRow {
  int32_t number;  // TensorProto.DataType
  DType dtype;
  OnnxDataField field;  // the typed field that may hold it
};

constexpr TypeRow kTypes[] = {
    {1, DType::f32, OnnxDataField::float_data},       {2, DType::u8, OnnxDataField::int32_data},
    {3, DType::i8, OnnxDataField::int32_data},        {4, DType::u16, OnnxDataField::int32_data},
    {5, DType::i16, OnnxDataField::int32_data},       {6, DType::i32, OnnxDataField::int32_data},
    {7, DType::i64, OnnxDataField::int64_data},       {8, DType::string, OnnxDataField::string_data},
    {9, DType::boolean, OnnxDataField::int32_data},   {10, DType::f16, OnnxDataField::int32_data},
    {11, DType::f64, OnnxDataField::double_data},     {12, DType::u32, OnnxDataField::uint64_data},
    {13, DType::u64, OnnxDataField::uint64_data},     {16, DType::bf16, OnnxDataField::int32_data},
    {17, DType::f8e4m3fn, OnnxDataField::int32_data}, {18, DType::f8e4m3fnuz, OnnxDataField::int32_data},
    {19, DType::f8e5m2, OnnxDataField::int32_data},   {20, DType::f8e5m2fnuz, OnnxDataField::int32_data},
    {21, DType::u4, OnnxDataField::int32_data},       {22, DType::i4, OnnxDataField::int32_data},
    {23, DType::f4e2m1, OnnxDataField::int32_data},   {24, DType::f8e8m0, OnnxDataField::int32_data},
    {25, DType::u2, OnnxDataField::int32_data},       {26, DType::i2, OnnxDataField::int32_data},
};
constexpr int32_t kLastType = 26;

const TypeRow& type_row(int32_t number, std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.number == number) return row;
  const bool is_complex = number == 14 || number == 15;
  throw Error({.code = number > 0 ? ErrorCode::unsupported : ErrorCode::corrupt,
               .object = "ONNX element type of",
               .name = printable(name),
               .expected = fmt::format("a type from 1 to {} without complex numbers", kLastType),
               .observed = fmt::format("{}{}", number, is_complex ? ", a complex type" : ""),
               .remedy = number > 0 ? kUnsupportedOnnx : kInvalidOnnx});
}

[[noreturn]] void fail(const OnnxTensor& tensor, const OnnxSource& source, ErrorCode code,
                       std::string expected, const std::string& observed) {
  throw Error(
      {.code = code,
       .object = "ONNX tensor",
       .name = printable(tensor.name),
       .expected = std::move(expected),
       .observed = fmt::format("{} (file '{}', byte {})", observed, printable(source.file), tensor.offset),
       .remedy = code == ErrorCode::corrupt ? kDamagedOnnx : kUnsupportedOnnx});
}

// The values an entry of a typed varint field may have. Bit patterns may be written signed or unsigned.
std::pair<int64_t, int64_t> value_range(DType dtype) {
  const int width = std::max(bit_width(dtype), 8);  // smaller types come packed into bytes
  if (dtype == DType::boolean) return {0, 1};
  if (width == 64) return {INT64_MIN, INT64_MAX};
  const int64_t half = int64_t{1} << (width - 1);
  if (is_sub_byte(dtype) || is_floating(dtype)) return {-half, 2 * half - 1};
  return is_signed_integer(dtype) ? std::pair{-half, half - 1} : std::pair{int64_t{0}, 2 * half - 1};
}

// Calls visit(reader over values) for each occurrence of the tensor's typed field.
template <class Visit>
void for_each_run(const OnnxTensor& tensor, const OnnxSource& source, WireType element, Visit&& visit) {
  WireReader reader(tensor.message, source.file, tensor.offset);
  while (reader.next()) {
    if (reader.field() == static_cast<uint32_t>(tensor.field))
      visit(reader.values(to_string(tensor.field).data(), element));
    else
      reader.skip();
  }
}

OnnxBytes own(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {*owner, owner};
}

// float_data and double_data: as raw data, but perhaps in several runs.
OnnxBytes fixed_width_data(const OnnxTensor& tensor, const OnnxSource& source, WireType element) {
  std::vector<std::span<const std::byte>> runs;
  for_each_run(tensor, source, element, [&](WireReader&& run) { runs.push_back(run.all()); });
  if (runs.size() == 1) return {runs[0], source.owner};
  std::vector<std::byte> out;
  for (const auto& run : runs) out.insert(out.end(), run.begin(), run.end());
  return own(std::move(out));
}

OnnxBytes varint_data(const OnnxTensor& tensor, const OnnxSource& source, DType dtype) {
  const auto range = value_range(dtype);
  const size_t width = static_cast<size_t>(std::max(bit_width(dtype), 8)) / 8;
  std::vector<std::byte> out;
  out.reserve(static_cast<size_t>(tensor.value_count) * width);
  for_each_run(tensor, source, WireType::varint, [&](WireReader&& run) {
    while (!run.at_end()) {
      // int32_data is cut to 32 bits, as in every reader of the format; its sign then extends.
      const uint64_t wide = run.take_varint();
      const auto value =
          tensor.field == OnnxDataField::int32_data ? static_cast<int32_t>(wide) : static_cast<int64_t>(wide);
      if (value < range.first || value > range.second)
        run.fail("", fmt::format("{} to {} for type {}", range.first, range.second, to_string(dtype)),
                 fmt::format("{}", value));
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      out.insert(out.end(), bytes, bytes + width);
    }
  });
  return own(std::move(out));
}

std::vector<std::string> string_data(const OnnxTensor& tensor, const OnnxSource& source) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(tensor.value_count));
  WireReader reader(tensor.message, source.file, tensor.offset);
  while (reader.next()) {
    if (reader.field() == static_cast<uint32_t>(OnnxDataField::string_data))
      out.emplace_back(reader.text({"string_data", out.size()}));
    else
      reader.skip();
  }
  return out;
}

OnnxBytes stored_bytes(const OnnxTensor& tensor, const OnnxSource& source, DType dtype, size_t size) {
  if (tensor.is_external) {
    if (source.external == nullptr)
      fail(tensor, source, ErrorCode::unsupported, "data inside the file",
           "external data, but no folder to look in");
    return source.external->read(tensor, size, source.file);
  }
  switch (tensor.field) {
    case OnnxDataField::none: return {};
    case OnnxDataField::raw_data: return {tensor.raw_data, source.owner};
    case OnnxDataField::float_data: return fixed_width_data(tensor, source, WireType::fixed32);
    case OnnxDataField::double_data: return fixed_width_data(tensor, source, WireType::fixed64);
    default: return varint_data(tensor, source, dtype);
  }
}

std::string shape_text(const OnnxTensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.dims, ", ")); }

// Zeros behind the last element: equal tensors are then equal bytes. Files are free to hold anything there.
void clear_padding(OnnxTensorData& data) {
  const auto used = static_cast<int>(data.count * bit_width(data.dtype) % 8);
  if (used == 0) return;
  const auto mask = static_cast<std::byte>((1 << used) - 1);
  if ((data.bytes.back() & ~mask) == std::byte{0}) return;
  std::vector<std::byte> copy(data.bytes.begin(), data.bytes.end());
  copy.back() &= mask;
  auto [bytes, owner] = own(std::move(copy));
  data.bytes = bytes;
  data.owner = std::move(owner);
}

void check_booleans(const OnnxTensor& tensor, const OnnxSource& source, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > std::byte{1})
      fail(tensor, source, ErrorCode::corrupt, "booleans of 0 or 1",
           fmt::format("{} in element {}", static_cast<int>(bytes[i]), i));
}

void decode_strings(const OnnxTensor& tensor, const OnnxSource& source, OnnxTensorData& out) {
  if (tensor.is_external)
    fail(tensor, source, ErrorCode::corrupt, "strings inside the file", "external data");
  out.strings = string_data(tensor, source);
  if (static_cast<int64_t>(out.strings.size()) != out.count) {
    fail(tensor, source, ErrorCode::corrupt,
         fmt::format("{} strings for shape {}", out.count, shape_text(tensor)),
         fmt::format("{}", out.strings.size()));
  }
}

void decode_numbers(const OnnxTensor& tensor, const OnnxSource& source, OnnxTensorData& out) {
  const size_t size = byte_size(out.dtype, out.count);
  auto [bytes, owner] = stored_bytes(tensor, source, out.dtype, size);
  if (bytes.size() != size) {
    fail(tensor, source, ErrorCode::corrupt,
         fmt::format("{} bytes for {} of shape {}", size, to_string(out.dtype), shape_text(tensor)),
         fmt::format("{} bytes in {}", bytes.size(), to_string(tensor.field)));
  }
  out.bytes = bytes;
  out.owner = std::move(owner);
  if (is_sub_byte(out.dtype)) clear_padding(out);
  if (out.dtype == DType::boolean) check_booleans(tensor, source, bytes);
}

}  // namespace

DType dtype_from_onnx(int32_t data_type, std::string_view name) { return type_row(data_type, name).dtype; }

OnnxTensorData decode_tensor(const OnnxTensor& tensor, const OnnxSource& source) {
  const TypeRow& row = type_row(tensor.data_type, tensor.name);
  const bool is_string = row.dtype == DType::string;
  if (tensor.field != OnnxDataField::none && tensor.field != row.field &&
      (is_string || tensor.field != OnnxDataField::raw_data)) {
    fail(tensor, source, ErrorCode::corrupt,
         fmt::format("elements of type {} in {}", to_string(row.dtype), to_string(row.field)),
         fmt::format("them in {}", to_string(tensor.field)));
  }
  const std::optional<int64_t> count = try_product(tensor.dims);
  if (!count || (!is_string && !try_mul<int64_t>(*count, bit_width(row.dtype))))
    fail(tensor, source, ErrorCode::corrupt, "a size below 2^60 bytes", "shape " + shape_text(tensor));

  OnnxTensorData out;
  out.dtype = row.dtype;
  out.dims = tensor.dims;
  out.count = *count;
  if (is_string)
    decode_strings(tensor, source, out);
  else
    decode_numbers(tensor, source, out);
  return out;
}

}  // namespace ingot
