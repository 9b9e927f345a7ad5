#include "ingot/tensor.h"

#include <cstring>

#include "base/memory_account.h"
#include "ingot/error.h"

namespace ingot {
namespace {

[[noreturn]] void fail(std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "tensor",
               .expected = std::move(expected),
               .observed = std::move(observed)});
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0) fail("sizes of at least 0", to_string(shape));
    if (size == 0) return 0;
    if (count > (int64_t{1} << 62) / size) fail("at most 2^62 elements", "shape " + to_string(shape));
    count *= size;
  }
  return count;
}

Tensor Tensor::allocate(DType dtype, Shape shape) {
  Tensor t;
  t.dtype_ = dtype;
  t.count_ = element_count(shape);
  t.shape_ = std::move(shape);
  if (dtype == DType::string) {
    t.strings_ = std::make_shared<std::vector<std::string>>(static_cast<size_t>(t.count_));
    return t;
  }
  t.byte_size_ = ingot::byte_size(dtype, t.count_);
  auto memory = MemoryScope::allocate(t.byte_size_);
  std::memset(memory.get(), 0, t.byte_size_);
  t.data_ = memory.get();
  t.owner_ = std::move(memory);
  t.writable_ = true;
  return t;
}

Tensor Tensor::share(DType dtype, Shape shape, std::span<const std::byte> bytes,
                     std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.count_ = element_count(shape);
  t.byte_size_ = ingot::byte_size(dtype, t.count_);
  if (dtype == DType::string || t.byte_size_ != bytes.size())
    fail(fmt::format("{} bytes for {} of {}", t.byte_size_, to_string(shape), to_string(dtype)),
         fmt::format("{} bytes", bytes.size()));
  t.shape_ = std::move(shape);
  t.data_ = bytes.data();
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::of_strings(Shape shape, std::vector<std::string> elements) {
  Tensor t;
  t.dtype_ = DType::string;
  t.count_ = element_count(shape);
  if (static_cast<size_t>(t.count_) != elements.size())
    fail(fmt::format("{} strings for shape {}", t.count_, to_string(shape)),
         fmt::format("{}", elements.size()));
  t.shape_ = std::move(shape);
  t.strings_ = std::make_shared<std::vector<std::string>>(std::move(elements));
  return t;
}

std::span<std::byte> Tensor::mutable_bytes() {
  if (!writable_ && byte_size_ > 0)
    throw Error({.code = ErrorCode::internal,
                 .object = "tensor",
                 .expected = "memory of its own",
                 .observed = "shared memory"});
  return {const_cast<std::byte*>(data_), byte_size_};
}

std::span<const std::string> Tensor::strings() const {
  check_type(DType::string);
  return *strings_;
}

std::span<std::string> Tensor::mutable_strings() {
  check_type(DType::string);
  return *strings_;
}

Tensor Tensor::aligned() const {
  if (is_aligned()) return *this;
  auto memory = MemoryScope::allocate(byte_size_);
  std::ranges::copy(bytes(), memory.get());
  Tensor copy = *this;
  copy.data_ = memory.get();
  copy.owner_ = std::move(memory);
  copy.writable_ = true;
  return copy;
}

bool Tensor::is_aligned() const {
  auto width = static_cast<uintptr_t>(std::max(bit_width(dtype_) / 8, 1));
  return reinterpret_cast<uintptr_t>(data_) % width == 0;
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != count_) fail(fmt::format("a shape of {} elements", count_), to_string(shape));
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

bool Tensor::identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  if (is_string()) return std::ranges::equal(strings(), other.strings());
  return byte_size_ == 0 || std::memcmp(data_, other.data_, byte_size_) == 0;
}

void Tensor::check_type(DType wanted) const {
  if (dtype_ != wanted)
    fail(fmt::format("elements of {}", to_string(wanted)), std::string(to_string(dtype_)));
  if (!is_aligned())
    throw Error({.code = ErrorCode::internal,
                 .object = "tensor",
                 .expected = "aligned elements",
                 .observed = "a view of unaligned bytes"});
}

const Tensor& Datum::tensor() const {
  if (const auto* t = std::get_if<Tensor>(&content_)) return *t;
  fail("a tensor", is_none() ? "an empty optional" : "a sequence");
}

const Sequence& Datum::sequence() const {
  if (const auto* s = std::get_if<std::shared_ptr<const Sequence>>(&content_)) return **s;
  fail("a sequence", is_none() ? "an empty optional" : "a tensor");
}

}  // namespace ingot
