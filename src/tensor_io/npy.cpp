#include "tensor_io/npy.h"

#include <cstring>

#include "base/atomic_file.h"
#include "ingot/error.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/text.h"

namespace ingot {
namespace {

using Bytes = std::vector<std::byte>;

[[noreturn]] void fail(std::string_view file, ErrorCode code, std::string expected, std::string observed,
                       std::string remedy) {
  throw Error({.code = code,
               .object = "NumPy file",
               .name = std::string(file),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

// Bytes of one element where ml_dtypes has the type and NumPy does not; else 0.
size_t extension_size(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 2;
    case DType::f8e4m3fn:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
    case DType::f4e2m1:
    case DType::i4:
    case DType::i2:
    case DType::u4:
    case DType::u2: return 1;
    default: return 0;
  }
}

DType extension_dtype(const NpyHeader& header, std::string_view file, std::optional<DType> wanted) {
  if (header.descr == "<f1" || header.descr == "|f1") return DType::f8e5m2;
  if (!wanted || extension_size(*wanted) != header.item_size)
    fail(file, ErrorCode::invalid_argument,
         wanted ? fmt::format("elements of type {}", to_string(*wanted)) : "a type that the file names",
         fmt::format("'{}', {} bytes of a type that NumPy does not have", header.descr, header.item_size),
         "Such files can be read only where the type is known, as it is for inputs of an engine.");
  return *wanted;
}

std::optional<DType> number_dtype(char kind, size_t size) {
  constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  constexpr DType kFloats[] = {DType::f16, DType::f32, DType::f64};
  const int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
  if (log < 0) return std::nullopt;
  if (kind == 'i') return kSigned[log];
  if (kind == 'u') return kUnsigned[log];
  if (kind == 'f' && log > 0) return kFloats[log - 1];
  if (kind == 'b' && log == 0) return DType::boolean;
  return std::nullopt;
}

DType dtype_of(const NpyHeader& header, std::string_view file, std::optional<DType> wanted) {
  if (header.kind == 'U' || header.kind == 'S') return DType::string;
  if (header.kind == 'V' || (header.kind == 'f' && header.item_size == 1))
    return extension_dtype(header, file, wanted);
  if (auto dtype = number_dtype(header.kind, header.item_size)) return *dtype;
  fail(file, ErrorCode::unsupported, "integers of 1 to 8 bytes, real numbers of 2 to 8 or booleans of 1",
       fmt::format("elements of type '{}'", header.descr),
       "Convert the array with astype() before saving it.");
}

std::span<const std::byte> elements_of(std::span<const std::byte> bytes, const NpyHeader& header,
                                       std::string_view file) {
  const auto data = bytes.subspan(header.data_offset);
  uint64_t size = 0;
  const bool overflow = __builtin_mul_overflow(static_cast<uint64_t>(header.count), header.item_size, &size);
  if (overflow || data.size() != size)
    fail(file, ErrorCode::corrupt,
         fmt::format("{} elements of {} bytes for shape {}", header.count, header.item_size,
                     to_string(header.shape)),
         fmt::format("{} bytes after the header", data.size()), "Write the file again with numpy.save().");
  return data;
}

// Calls visit(position in C order) for each element in the order of a Fortran array.
template <class Visit>
void for_each_fortran(const Shape& shape, int64_t count, Visit&& visit) {
  const size_t rank = shape.size();
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<size_t>(at));
    for (size_t d = 0; d < rank; ++d) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

Bytes to_c_order(std::span<const std::byte> in, const NpyHeader& header) {
  Bytes out(in.size());
  const std::byte* from = in.data();
  for_each_fortran(header.shape, header.count, [&](size_t at) {
    std::memcpy(out.data() + at * header.item_size, from, header.item_size);
    from += header.item_size;
  });
  return out;
}

void swap_bytes(Bytes& bytes, size_t width) {
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i),
                 bytes.begin() + static_cast<ptrdiff_t>(i + width));
}

// One element per byte, in its low bits, becomes packed elements; higher bits repeat a sign or mean nothing.
Tensor pack(std::span<const std::byte> in, DType dtype, const Shape& shape) {
  Tensor out = Tensor::allocate(dtype, shape);
  auto bytes = out.mutable_bytes();
  const size_t width = static_cast<size_t>(bit_width(dtype)), per_byte = 8 / width;
  const auto mask = static_cast<std::byte>((1 << width) - 1);
  for (size_t i = 0; i < in.size(); ++i) bytes[i / per_byte] |= (in[i] & mask) << (i % per_byte * width);
  return out;
}

// Negative numbers keep their low bits only, as ml_dtypes stores them.
Bytes unpack(const Tensor& tensor) {
  const size_t width = static_cast<size_t>(bit_width(tensor.dtype())), per_byte = 8 / width;
  const auto mask = static_cast<std::byte>((1 << width) - 1);
  Bytes out(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = (tensor.bytes()[i / per_byte] >> (i % per_byte * width)) & mask;
  return out;
}

Tensor texts(std::span<const std::byte> in, const NpyHeader& header, std::string_view file) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(header.count));
  for (int64_t i = 0; i < header.count; ++i) {
    const auto item = in.subspan(static_cast<size_t>(i) * header.item_size, header.item_size);
    out.push_back(header.kind == 'U'
                      ? utf8_from_utf32(item, fmt::format("NumPy file '{}', element {}", file, i))
                      : bytes_until_padding(item));
  }
  return Tensor::of_strings(header.shape, std::move(out));
}

void check_booleans(std::span<const std::byte> bytes, std::string_view file) {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > std::byte{1})
      fail(file, ErrorCode::corrupt, "booleans of 0 or 1",
           fmt::format("{} in element {}", std::to_integer<int>(bytes[i]), i), "");
}

std::string descr_of(DType dtype) {
  const char kind = is_floating(dtype) ? 'f' : is_unsigned_integer(dtype) ? 'u' : 'i';
  if (const size_t size = extension_size(dtype)) return fmt::format("<V{}", size);
  if (dtype == DType::boolean) return "|b1";
  const int size = bit_width(dtype) / 8;
  return fmt::format("{}{}{}", size == 1 ? '|' : '<', kind, size);
}

void append_texts(AtomicFile& file, const Tensor& tensor) {
  const TextArray array = text_array(tensor.strings());
  file.append(format_npy_header(array.descr, tensor.shape()));
  for (const std::string& item : array.items) {
    file.append(item);
    file.append_zeros(array.item_size - item.size());
  }
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string_view file,
                 std::optional<DType> wanted) {
  const NpyHeader header = parse_npy_header(bytes, file);
  const DType dtype = dtype_of(header, file, wanted);
  std::span<const std::byte> data = elements_of(bytes, header, file);
  std::shared_ptr<Bytes> moved;
  if (header.fortran_order && header.shape.size() > 1)
    moved = std::make_shared<Bytes>(to_c_order(data, header));
  if (header.big_endian && header.item_size > 1 && header.kind != 'S') {
    if (!moved) moved = std::make_shared<Bytes>(data.begin(), data.end());
    swap_bytes(*moved, header.kind == 'U' ? 4 : header.item_size);
  }
  if (moved) {
    data = *moved;
    owner = moved;
  }
  if (dtype == DType::string) return texts(data, header, file);
  if (dtype == DType::boolean) check_booleans(data, file);
  if (is_sub_byte(dtype)) return pack(data, dtype, header.shape);
  return Tensor::share(dtype, header.shape, data, std::move(owner)).aligned();
}

void write_npy(const Tensor& tensor, const std::string& path) {
  AtomicFile file(path, "NumPy file");
  if (tensor.is_string()) {
    append_texts(file, tensor);
  } else {
    file.append(format_npy_header(descr_of(tensor.dtype()), tensor.shape()));
    file.append(is_sub_byte(tensor.dtype()) ? std::span<const std::byte>(unpack(tensor)) : tensor.bytes());
  }
  file.commit();
}

}  // namespace ingot
