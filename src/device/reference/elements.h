#pragma once

#include <array>
#include <string>
#include <vector>

#include "ingot/tensor.h"
#include "ir/arithmetic.h"
#include "ir/numeric.h"

// Access to tensor elements for kernels that compute (in one of three wide types) or only move (in cells).
namespace ingot::reference {

// All elements, converted to W (double, int64_t, uint64_t) whatever the dtype.
template <class W>
std::vector<W> load(const Tensor& tensor);
// Rounds to nearest even, integers wrap; sizes must agree.
template <class W>
void store(Tensor& tensor, const std::vector<W>& elements, EncodeOptions options = {});

// The same for `count` elements from `first` on, which is a multiple of kRun.
constexpr int64_t kRun = 1024;
template <class W>
void load_run(const Tensor& tensor, int64_t first, int64_t count, W* elements);
template <class W>
void store_run(Tensor& tensor, int64_t first, int64_t count, const W* elements, EncodeOptions options = {});

// out[i] = f(x[i] ...) for tensors of one shape, loaded as W and stored from R in runs that stay in cache.
template <class W, class R, class F, class... T>
void transform(Tensor& out, F f, const T&... x) {
  for (int64_t first = 0; first < out.count(); first += kRun) {
    int64_t count = std::min(kRun, out.count() - first);
    std::array<R, kRun> results;
    auto run = [&](const Tensor& t) {
      std::array<W, kRun> elements;
      load_run(t, first, count, elements.data());
      return elements;
    };
    auto apply = [&](const auto&... elements) {
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) results[i] = f(elements[i]...);
    };
    apply(run(x)...);
    store_run(out, first, count, results.data());
  }
}

// For kernels that only move elements. A cell holds one element: 1, 2, 4 or 8 bytes, or a string; 2- and
// 4-bit types are unpacked to a byte each on the way in and packed on the way out.
template <class T>
class Cells {
 public:
  explicit Cells(const Tensor& tensor);
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  std::vector<T> unpacked_;
  const T* data_;
};

// The cells of an output: written back to the tensor when this goes out of scope.
template <class T>
class OutCells {
 public:
  explicit OutCells(Tensor& tensor);
  ~OutCells();
  OutCells(const OutCells&) = delete;
  T& operator[](int64_t i) { return data_[i]; }

 private:
  Tensor& tensor_;
  std::vector<T> unpacked_;
  T* data_;
};

// Calls f with a zero of the cell type of a dtype.
template <class F>
decltype(auto) with_cell(DType dtype, F f) {
  if (dtype == DType::string) return f(std::string{});
  switch (bit_width(dtype)) {
    case 64: return f(uint64_t{});
    case 32: return f(uint32_t{});
    case 16: return f(uint16_t{});
    default: return f(uint8_t{});
  }
}

}  // namespace ingot::reference
