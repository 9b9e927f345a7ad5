#pragma once

#include <cmath>
#include <cstring>

#include "device/cpu/routine.h"
#include "ir/numeric.h"

// Runs routines beside the reference device, on every kind of view.
namespace ingot::cpu::testing {

enum class Layout { dense, transposed, gaps, mirrored };
inline constexpr Layout kLayouts[] = {Layout::dense, Layout::transposed, Layout::gaps, Layout::mirrored};

// A view with memory of its own, whose bytes outside the elements are known.
class Placed {
 public:
  Placed(DType dtype, const Shape& shape, Layout layout) {
    view_ = dense_view(dtype, shape, nullptr);
    const auto rank = shape.size();
    int64_t step = layout == Layout::gaps ? 2 : 1;
    for (size_t i = 0; i < rank; ++i) {
      const size_t axis = layout == Layout::transposed ? i : rank - 1 - i;
      view_.strides[axis] = step;
      step *= std::max<int64_t>(shape[axis], 1) + (layout == Layout::gaps ? 1 : 0);
    }
    const auto width = static_cast<size_t>(bit_width(dtype)) / 8;
    memory_.assign(static_cast<size_t>(step + 8) * width, kUntouched);
    view_.data = memory_.data();
    if (layout != Layout::mirrored) return;
    for (size_t axis = 0; axis < rank; ++axis) {
      view_.data += std::max<int64_t>(shape[axis] - 1, 0) * view_.strides[axis] * static_cast<int64_t>(width);
      view_.strides[axis] *= -1;
    }
  }
  Placed(const Tensor& tensor, Layout layout) : Placed(tensor.dtype(), tensor.shape(), layout) {
    each([&](std::byte* element, size_t i, size_t width) {
      std::memcpy(element, tensor.bytes().data() + i * width, width);
    });
  }

  const View& view() const { return view_; }

  Tensor content() const {
    Tensor out = Tensor::allocate(view_.dtype, shape());
    each([&](const std::byte* element, size_t i, size_t width) {
      std::memcpy(out.mutable_bytes().data() + i * width, element, width);
    });
    return out;
  }

  // Whether nothing was written beside the elements.
  bool rest_untouched() {
    each([](std::byte* element, size_t, size_t width) { std::fill_n(element, width, kUntouched); });
    return std::ranges::all_of(memory_, [](std::byte b) { return b == kUntouched; });
  }

 private:
  static constexpr std::byte kUntouched{0xee};

  Shape shape() const { return {view_.sizes.begin(), view_.sizes.begin() + view_.rank}; }

  template <class F>
  void each(F f) const {
    const auto width = static_cast<size_t>(bit_width(view_.dtype)) / 8;
    for (int64_t i = 0; i < view_.count(); ++i) {
      int64_t offset = 0, rest = i;
      for (auto axis = static_cast<size_t>(view_.rank); axis-- > 0; rest /= view_.sizes[axis])
        offset += rest % view_.sizes[axis] * view_.strides[axis];
      f(view_.data + offset * static_cast<int64_t>(width), static_cast<size_t>(i), width);
    }
  }

  std::vector<std::byte> memory_;
  View view_;
};

// Real numbers in [-8, 8), integers around 0 or, unsigned, from 0 on.
Tensor random(DType dtype, const Shape& shape, unsigned seed = 1);
Tensor ints(std::vector<int64_t> values);

struct RunOptions {
  double tolerance = 0;
  bool strided = true;  // also views that are not dense
  int unread = -1;      // an output nobody wants
};

// Equal elements, or, above 0, within `tolerance` of the larger of 1 and the expected number; NaN is NaN.
void expect_close(const Tensor& actual, const Tensor& expected, double tolerance);

// Runs the routine of the node once, with operands and results in memory of the given layouts, and expects
// these results. An operand that is none is absent.
void expect_results(const Node& node, const std::vector<Datum>& operands, const std::vector<Datum>& expected,
                    Layout in, Layout out, int threads, const RunOptions& options = {});

// Runs the routine on all layouts and several thread counts, and expects what the reference device gives.
void expect_like_reference(Attrs attrs, const std::vector<Datum>& operands, const RunOptions& options = {},
                           size_t outputs = 1);

}  // namespace ingot::cpu::testing
