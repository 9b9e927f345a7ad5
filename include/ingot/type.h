#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/dim.h"
#include "ingot/dtype.h"
#include "ingot/export.h"
#include "ingot/tensor.h"

namespace ingot {

using Dims = std::vector<Dim>;  // a shape whose sizes may be expressions over named symbols

INGOT_API std::string to_string(const Dims& dims);  // "[batch, 3]"

// The type of one edge of a graph: a tensor, a sequence of tensors, or an optional of either.
struct INGOT_API Type {
  enum class Kind : uint8_t { tensor, sequence, optional };

  Kind kind = Kind::tensor;
  DType dtype = DType::f32;           // tensors only
  std::optional<Dims> dims;           // tensors only; empty: the rank is unknown until run time
  std::shared_ptr<const Type> inner;  // sequences and optionals only: never null there

  static Type tensor(DType dtype, Dims dims) { return {Kind::tensor, dtype, std::move(dims), nullptr}; }
  static Type unranked(DType dtype) { return {Kind::tensor, dtype, std::nullopt, nullptr}; }
  static Type sequence(Type element);
  static Type optional(Type content);
  static Type of(const Tensor& tensor);

  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_ranked() const { return is_tensor() && dims.has_value(); }
  // The dtype of the innermost tensor.
  DType element_dtype() const { return is_tensor() ? dtype : inner->element_dtype(); }

  friend INGOT_API bool operator==(const Type& a, const Type& b);
};

// "f32[batch, 3]", "f32[*]" (unknown rank), "sequence<f32[*]>", "optional<...>"; parses back.
INGOT_API std::string to_string(const Type& type);

// Whether data of type `actual` may flow where `declared` is promised: same kinds and dtypes, and no size
// that is known to differ. Symbols are not bound here.
INGOT_API bool may_be(const Type& declared, const Type& actual);

}  // namespace ingot
