#include "tensor_io/tensor_file.h"

#include <sys/stat.h>

#include "base/mapped_file.h"
#include "import/onnx/model_context.h"
#include "ingot/error.h"
#include "ir/shape_values.h"
#include "tensor_io/npy.h"
#include "tensor_io/zip_reader.h"

namespace ingot {
namespace {

std::optional<DType> tensor_dtype(const Type& type) {
  return type.is_tensor() ? std::optional(type.dtype) : std::nullopt;
}

Tensor read_npz_member(const ZipReader& archive, size_t index, const std::string& path,
                       std::optional<DType> wanted) {
  auto content = archive.read(index);
  return parse_npy(*content, content, path + ":" + archive.names()[index], wanted);
}

Tensor read_from_npz(const std::string& path, const WantedDatum& wanted) {
  const ZipReader archive(path);
  const auto& names = archive.names();
  auto found = std::find(names.begin(), names.end(), wanted.name + ".npy");
  if (found == names.end() && names.size() == 1) found = names.begin();
  if (found == names.end())
    throw Error({.code = ErrorCode::not_found,
                 .object = "NumPy archive",
                 .name = path,
                 .expected = fmt::format("a member '{}.npy'", wanted.name),
                 .observed = fmt::format("{} members: {}", names.size(), fmt::join(names, ", ")),
                 .remedy = "Save the array under the name of the input."});
  return read_npz_member(archive, static_cast<size_t>(found - names.begin()), path,
                         tensor_dtype(wanted.type));
}

[[noreturn]] void fail_raw(const std::string& path, std::string expected, std::string observed,
                           std::string remedy) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "raw file",
               .name = path,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

std::optional<Shape> constant_shape(const Type& type) {
  return type.is_ranked() ? numbers(type.dims) : std::nullopt;
}

Tensor read_raw(const std::string& path, const WantedDatum& wanted) {
  if (!wanted.type.is_tensor() || wanted.type.dtype == DType::string)
    fail_raw(path, "an input of numbers", to_string(wanted.type), "Use an .npy or .pb file.");
  const auto shape = wanted.shape ? wanted.shape : constant_shape(wanted.type);
  if (!shape)
    fail_raw(path, "an input of fixed shape", to_string(wanted.type),
             fmt::format("Give its shape: --shape {}=1x3x224x224.", wanted.name));
  auto file = MappedFile::open(path, "raw file");
  const size_t size = byte_size(wanted.type.dtype, element_count(*shape));
  if (file->size() != size)
    fail_raw(
        path,
        fmt::format("{} bytes for {} of shape {}", size, to_string(wanted.type.dtype), to_string(*shape)),
        fmt::format("{}", file->size()), "Write these elements in order, without a header.");
  return Tensor::share(wanted.type.dtype, *shape, file->bytes(), file).aligned();
}

Tensor onnx_tensor(const OnnxTensor& tensor, const std::string& path, std::shared_ptr<const void> owner) {
  return tensor_from_onnx(tensor, {path, std::move(owner)});
}

Datum onnx_sequence(const OnnxValue& value, const std::string& path,
                    const std::shared_ptr<const void>& owner) {
  if (!value.values.empty())
    throw Error({.code = ErrorCode::unsupported,
                 .object = "ONNX data file",
                 .name = path,
                 .expected = "a sequence of tensors",
                 .observed = "a sequence of sequences or optionals",
                 .remedy = "Store a flat sequence."});
  Sequence out;
  for (const OnnxTensor& t : value.tensors) out.push_back(onnx_tensor(t, path, owner));
  return out;
}

bool is_empty_file(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

}  // namespace

Datum read_onnx_datum(const std::string& path, const Type& type) {
  if (!type.is_tensor() && is_empty_file(path))
    return type.kind == Type::Kind::sequence ? Datum(Sequence{}) : Datum();
  auto file = MappedFile::open(path, "ONNX data file");
  switch (type.kind) {
    case Type::Kind::tensor: return onnx_tensor(parse_onnx_tensor(file->bytes(), path), path, file);
    case Type::Kind::sequence: return onnx_sequence(parse_onnx_sequence(file->bytes(), path), path, file);
    case Type::Kind::optional: break;
  }
  const OnnxValue value = parse_onnx_optional(file->bytes(), path);
  if (!value.tensors.empty()) return onnx_tensor(value.tensors[0], path, file);
  if (!value.values.empty()) return onnx_sequence(value.values[0], path, file);
  return Datum();
}

std::map<std::string, Tensor> read_npz(const std::string& path, const std::map<std::string, DType>& types) {
  const ZipReader archive(path);
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < archive.names().size(); ++i) {
    std::string name = archive.names()[i];
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    const auto type = types.find(name);
    out[name] =
        read_npz_member(archive, i, path, type == types.end() ? std::nullopt : std::optional(type->second));
  }
  return out;
}

Datum read_datum_file(const std::string& path, const WantedDatum& wanted) {
  if (path.ends_with(".npz")) return read_from_npz(path, wanted);
  if (path.ends_with(".pb")) return read_onnx_datum(path, wanted.type);
  if (path.ends_with(".raw")) return read_raw(path, wanted);
  if (path.ends_with(".npy")) {
    auto file = MappedFile::open(path, "NumPy file");
    return parse_npy(file->bytes(), file, path, tensor_dtype(wanted.type));
  }
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "tensor file",
               .name = path,
               .expected = "a name that ends in .npy, .npz, .pb or .raw",
               .remedy = "Rename or convert it."});
}

}  // namespace ingot
