#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ingot/dtype.h"
#include "ingot/export.h"

namespace ingot {

using Shape = std::vector<int64_t>;  // sizes of a tensor that exists; a graph's shapes are `Dims`

INGOT_API std::string to_string(const Shape& shape);  // "[2, 3]"

// Product of the sizes; 1 for a scalar. Throws Error(invalid_argument) on a negative size or above 2^62.
INGOT_API int64_t element_count(const Shape& shape);

// The C++ type that holds one element of a dtype, for those that C++ has.
template <class T>
struct NativeDType;
template <>
struct NativeDType<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct NativeDType<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct NativeDType<int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct NativeDType<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct NativeDType<int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct NativeDType<int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct NativeDType<uint64_t> {
  static constexpr DType value = DType::u64;
};
template <>
struct NativeDType<uint32_t> {
  static constexpr DType value = DType::u32;
};
template <>
struct NativeDType<uint16_t> {
  static constexpr DType value = DType::u16;
};
template <>
struct NativeDType<uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct NativeDType<bool> {
  static constexpr DType value = DType::boolean;
};

// Dense row-major data with a type and a shape. Copying shares the memory. Sub-byte elements are packed low
// bits first without gaps between rows. Reading from several threads is safe; writing is not.
class INGOT_API Tensor {
 public:
  Tensor() = default;  // f32 of shape [0]

  // Owned memory, 64-byte aligned, zeroed. Throws Error(out_of_memory).
  static Tensor allocate(DType dtype, Shape shape);
  // Shares `bytes`, which `owner` keeps alive; never written through. `bytes` must have exactly the size
  // needed.
  static Tensor share(DType dtype, Shape shape, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner);
  static Tensor of_strings(Shape shape, std::vector<std::string> elements);
  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& elements);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t count() const { return count_; }
  bool is_string() const { return dtype_ == DType::string; }

  // Raw packed bytes; empty for strings.
  std::span<const std::byte> bytes() const { return {data_, byte_size_}; }
  // Throws Error(internal) for shared (read-only) memory.
  std::span<std::byte> mutable_bytes();

  // Elements as T. Throws Error(invalid_argument) when T is not the dtype.
  template <class T>
  std::span<const T> data() const;
  template <class T>
  std::span<T> mutable_data();
  std::span<const std::string> strings() const;
  std::span<std::string> mutable_strings();

  // This tensor, or a copy of it whose elements are aligned for data(). Shared bytes, such as those of a
  // mapped model file, may lie anywhere; data() refuses them where they are not aligned.
  Tensor aligned() const;
  // The same memory under another shape of equal count. Throws Error(invalid_argument) otherwise.
  Tensor reshaped(Shape shape) const;
  // Same dtype, shape and bytes (so NaN equals the same NaN).
  bool identical(const Tensor& other) const;

 private:
  void check_type(DType wanted) const;
  bool is_aligned() const;

  DType dtype_ = DType::f32;
  Shape shape_ = {0};
  int64_t count_ = 0;
  size_t byte_size_ = 0;
  const std::byte* data_ = nullptr;
  bool writable_ = false;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<std::vector<std::string>> strings_;
};

using Sequence = std::vector<Tensor>;

// What flows along one edge of a graph at run time: a tensor, a sequence of tensors, or an optional that is
// empty. An optional that holds something is that thing.
class INGOT_API Datum {
 public:
  Datum() = default;  // empty optional
  Datum(Tensor tensor) : content_(std::move(tensor)) {}
  Datum(Sequence sequence) : content_(std::make_shared<const Sequence>(std::move(sequence))) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(content_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(content_); }
  bool is_sequence() const { return std::holds_alternative<std::shared_ptr<const Sequence>>(content_); }

  // Throw Error(invalid_argument) when the datum is something else.
  const Tensor& tensor() const;
  const Sequence& sequence() const;

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>> content_;
};

template <class T>
std::span<const T> Tensor::data() const {
  check_type(NativeDType<T>::value);
  return {reinterpret_cast<const T*>(data_), static_cast<size_t>(count_)};
}

template <class T>
std::span<T> Tensor::mutable_data() {
  check_type(NativeDType<T>::value);
  return {reinterpret_cast<T*>(mutable_bytes().data()), static_cast<size_t>(count_)};
}

template <class T>
Tensor Tensor::of(Shape shape, const std::vector<T>& elements) {  // NOLINT: moved; unseen in a template
  Tensor t = share(NativeDType<T>::value, std::move(shape), std::as_bytes(std::span(elements)), nullptr);
  Tensor owned = allocate(t.dtype(), t.shape());
  std::copy(t.bytes().begin(), t.bytes().end(), owned.mutable_bytes().begin());
  return owned;
}

}  // namespace ingot
