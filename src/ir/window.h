#pragma once

#include <span>

#include "ingot/graph.h"

// The geometry of convolution and pooling: windows that slide along the spatial axes.
namespace ingot {

// Attribute lists are per spatial axis; an empty one means 1 (strides, dilations) or 0 (pads) everywhere.
// `pads` holds all begins, then all ends. The lists belong to someone else.
struct WindowAttrs {
  std::span<const int64_t> strides = {};
  std::span<const int64_t> dilations = {};
  std::span<const int64_t> pads = {};
  AutoPad auto_pad = AutoPad::none;
  bool ceil_mode = false;
};

// Views the attributes of an op.
template <class A>
WindowAttrs window_attrs(const A& a) {
  WindowAttrs out;
  if constexpr (requires { a.strides; }) out.strides = a.strides;
  if constexpr (requires { a.dilations; }) out.dilations = a.dilations;
  if constexpr (requires { a.pads; }) out.pads = a.pads;
  if constexpr (requires { a.auto_pad; }) out.auto_pad = a.auto_pad;
  if constexpr (requires { a.ceil_mode; }) out.ceil_mode = a.ceil_mode;
  return out;
}

// The place of element `offset` of a row-major plane in one whose first axis varies fastest.
int64_t column_major(int64_t offset, std::span<const int64_t> shape);

// The window along one axis.
struct WindowAxis {
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
};

// What the lists say of axis `i` of `axes`; automatic padding is not resolved. Throws Error(invalid_argument)
// where a list has another length, or a stride or dilation is below 1.
WindowAxis window_axis(const WindowAttrs& attrs, size_t i, size_t axes);

// How many windows of `kernel` cells fit along an axis of `in` cells.
Dim window_count(const WindowAttrs& attrs, const WindowAxis& axis, const Dim& in, const Dim& kernel);

// The axis with automatic padding resolved, for real sizes.
WindowAxis resolve_padding(const WindowAttrs& attrs, WindowAxis axis, int64_t in, int64_t kernel);

// Size along one axis of a transposed convolution; `size` is the wanted one, where the node gives it.
Dim transposed_size(const WindowAttrs& attrs, const WindowAxis& axis, int64_t output_padding,
                    std::optional<int64_t> size, const Dim& in, const Dim& kernel);

// The axis of a transposed convolution with the padding that gives `out` cells.
WindowAxis resolve_transposed_padding(const WindowAttrs& attrs, WindowAxis axis, int64_t output_padding,
                                      bool sized, int64_t in, int64_t kernel, int64_t out);

}  // namespace ingot
