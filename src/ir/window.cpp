#include "ir/window.h"

#include "ingot/error.h"

namespace ingot {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // keeps all products within 64 bits

int64_t element(std::span<const int64_t> list, size_t i, size_t wanted, int64_t missing, int64_t lowest,
                const char* what) {
  if (list.empty()) return missing;
  if (list.size() != wanted || list[i] < lowest || list[i] > kLargest)
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "window",
                 .name = what,
                 .expected = fmt::format("{} numbers in [{}, {}]", wanted, lowest, kLargest),
                 .observed = fmt::format("[{}]", fmt::join(list, ", "))});
  return list[i];
}

Dim extent(const WindowAxis& axis, const Dim& kernel) { return Dim(axis.dilation) * (kernel - 1) + 1; }

bool is_same(AutoPad pad) { return pad == AutoPad::same_upper || pad == AutoPad::same_lower; }

// Where an odd number of cells is padded, the extra one goes to the end for same_upper.
WindowAxis split_padding(WindowAxis axis, int64_t total, bool extra_at_end) {
  axis.pad_begin = extra_at_end ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
  return axis;
}

}  // namespace

int64_t column_major(int64_t offset, std::span<const int64_t> shape) {
  int64_t out = 0, step = 1;
  for (int64_t size : shape) step *= size;
  for (size_t axis = shape.size(); axis-- > 0; offset /= shape[axis]) {
    step /= shape[axis];
    out += offset % shape[axis] * step;
  }
  return out;
}

WindowAxis window_axis(const WindowAttrs& a, size_t i, size_t axes) {
  WindowAxis out;
  out.stride = element(a.strides, i, axes, 1, 1, "strides");
  out.dilation = element(a.dilations, i, axes, 1, 1, "dilations");
  if (a.auto_pad != AutoPad::none) return out;
  out.pad_begin = element(a.pads, i, 2 * axes, 0, -kLargest, "pads");
  out.pad_end = element(a.pads, i + axes, 2 * axes, 0, -kLargest, "pads");
  return out;
}

Dim window_count(const WindowAttrs& a, const WindowAxis& axis, const Dim& in, const Dim& kernel) {
  if (is_same(a.auto_pad)) return ceildiv(in, axis.stride);
  Dim room = in + axis.pad_begin + axis.pad_end - extent(axis, kernel);
  Dim count = a.ceil_mode && a.auto_pad == AutoPad::none
                  // A window that would start in the padding at the end does not count.
                  ? min(ceildiv(room, axis.stride) + 1, ceildiv(in + axis.pad_begin, axis.stride))
                  : floordiv(room, axis.stride) + 1;
  return count.low() >= 0 ? count : max(count, 0);
}

WindowAxis resolve_padding(const WindowAttrs& a, WindowAxis axis, int64_t in, int64_t kernel) {
  if (!is_same(a.auto_pad)) return axis;
  // As window_count() has it, in plain numbers: kernels come here on every run, and a Dim may allocate.
  const int64_t count = (in + axis.stride - 1) / axis.stride;
  const int64_t total =
      std::max<int64_t>((count - 1) * axis.stride + axis.dilation * (kernel - 1) + 1 - in, 0);
  return split_padding(axis, total, a.auto_pad == AutoPad::same_upper);
}

Dim transposed_size(const WindowAttrs& a, const WindowAxis& axis, int64_t output_padding,
                    std::optional<int64_t> size, const Dim& in, const Dim& kernel) {
  if (size) return *size;
  if (is_same(a.auto_pad)) return in * axis.stride;
  return Dim(axis.stride) * (in - 1) + output_padding + extent(axis, kernel) - axis.pad_begin - axis.pad_end;
}

WindowAxis resolve_transposed_padding(const WindowAttrs& a, WindowAxis axis, int64_t output_padding,
                                      bool sized, int64_t in, int64_t kernel, int64_t out) {
  if (!sized && !is_same(a.auto_pad)) return axis;
  Dim full = Dim(axis.stride) * (in - 1) + output_padding + extent(axis, kernel);
  return split_padding(axis, max(full - out, 0).constant(), a.auto_pad == AutoPad::same_upper);
}

}  // namespace ingot
