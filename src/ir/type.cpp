#include "ingot/type.h"

namespace ingot {

std::string to_string(const Dims& dims) {
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i) s += (i == 0 ? "" : ", ") + dims[i].to_string();
  return s + "]";
}

Type Type::sequence(Type element) {
  return {Kind::sequence, DType::f32, std::nullopt, std::make_shared<const Type>(std::move(element))};
}

Type Type::optional(Type content) {
  return {Kind::optional, DType::f32, std::nullopt, std::make_shared<const Type>(std::move(content))};
}

Type Type::of(const Tensor& tensor) {
  return Type::tensor(tensor.dtype(), Dims(tensor.shape().begin(), tensor.shape().end()));
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Type::Kind::tensor) return a.dtype == b.dtype && a.dims == b.dims;
  return *a.inner == *b.inner;
}

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Type::Kind::tensor:
      return std::string(to_string(type.dtype)) + (type.dims ? to_string(*type.dims) : "[*]");
    case Type::Kind::sequence: return "sequence<" + to_string(*type.inner) + ">";
    case Type::Kind::optional: return "optional<" + to_string(*type.inner) + ">";
  }
  return "?";
}

bool may_be(const Type& declared, const Type& actual) {
  if (declared.kind == Type::Kind::optional && actual.kind != Type::Kind::optional)
    return may_be(*declared.inner, actual);
  if (declared.kind != actual.kind) return false;
  if (!declared.is_tensor()) return may_be(*declared.inner, *actual.inner);
  if (declared.dtype != actual.dtype) return false;
  if (!declared.dims || !actual.dims) return true;
  if (declared.dims->size() != actual.dims->size()) return false;
  for (size_t i = 0; i < declared.dims->size(); ++i) {
    const Dim& d = (*declared.dims)[i];
    const Dim& a = (*actual.dims)[i];
    if (a.low() > d.high() || a.high() < d.low()) return false;
  }
  return true;
}

}  // namespace ingot
