#include "ir/common_type.h"

namespace ingot {
namespace {

using Join = std::function<Dim(const Dim&, const Dim&)>;

std::optional<Type> wrap(Type::Kind kind, std::optional<Type> inner) {
  if (!inner) return std::nullopt;
  return kind == Type::Kind::sequence ? Type::sequence(std::move(*inner)) : Type::optional(std::move(*inner));
}

Type common_tensor(const Type& a, const Type& b, const Join& join) {
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) return Type::unranked(a.dtype);
  Dims dims = *a.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != (*b.dims)[i]) dims[i] = join(dims[i], (*b.dims)[i]);
  return Type::tensor(a.dtype, std::move(dims));
}

}  // namespace

std::optional<Type> common_type(const Type& a, const Type& b, const Join& join) {
  using enum Type::Kind;
  if (a.kind == optional || b.kind == optional) {
    const Type& x = a.kind == optional ? *a.inner : a;
    const Type& y = b.kind == optional ? *b.inner : b;
    return wrap(optional, common_type(x, y, join));
  }
  if (a.kind != b.kind) return std::nullopt;
  if (a.kind == sequence) return wrap(sequence, common_type(*a.inner, *b.inner, join));
  if (a.dtype != b.dtype) return std::nullopt;
  return common_tensor(a, b, join);
}

}  // namespace ingot
