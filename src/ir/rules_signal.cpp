#include "ir/rules.h"

namespace ingot::rules {
namespace {

// The one value of a small integer operand, if known.
std::optional<Dim> scalar(const Inference& c, size_t i) {
  auto known = c.values(i);
  if (!known) return std::nullopt;
  if (known->size() != 1) c.fail(static_cast<int>(i), "one element", to_string(*known));
  return known->front();
}

std::optional<Dim> positive(const Inference& c, size_t i) {
  auto value = scalar(c, i);
  if (value && value->is_constant() && value->constant() < 1)
    c.fail(static_cast<int>(i), "at least 1", fmt::format("{}", value->constant()));
  return value;
}

// Real parts only, or real and imaginary ones, along the last axis.
void require_complex(const Inference& c, size_t i) {
  const Dims& dims = c.dims(i);
  if (dims.size() < 2) c.fail(static_cast<int>(i), "rank of at least 2", to_string(c.type(i)));
  if (dims.back().is_constant() && dims.back().constant() != 1 && dims.back().constant() != 2)
    c.fail(static_cast<int>(i), "a last axis of size 1 (real) or 2 (complex)", to_string(c.type(i)));
}

Dim half_spectrum(const Dim& length) { return floordiv(length, 2) + 1; }

// Any axis but the last may be the one that changes.
Dims sizes_of_unknown_axis(const Inference& c) {
  Dims dims;
  for (int64_t i = 0; i + 1 < c.rank(0); ++i) dims.push_back(c.fresh("dft"));
  const auto& a = c.attrs<DftAttrs>();
  dims.emplace_back(a.one_sided && a.inverse ? 1 : 2);
  return dims;
}

}  // namespace

void dft_type(Inference& c) {
  const auto& a = c.attrs<DftAttrs>();
  if (!c.is_ranked(0)) return c.set(0, c.type(0));
  require_complex(c, 0);
  Dims dims = c.dims(0);
  std::optional<int64_t> given = a.axis;
  if (c.has(2)) given = scalar(c, 2).value_or(c.fresh("axis")).value();
  if (!given) return c.set(0, c.dtype(0), sizes_of_unknown_axis(c));
  int64_t axis = c.axis(*given, c.rank(0));
  if (axis == c.rank(0) - 1) c.fail(-1, "an axis before the last", fmt::format("{}", a.axis));
  bool halves_out = a.one_sided && !a.inverse, halves_in = a.one_sided && a.inverse;
  if (halves_out && dims.back().is_constant() && dims.back() != Dim(1))
    c.fail(0, "real values for a one-sided transform", to_string(c.type(0)));
  Dim& size = dims[static_cast<size_t>(axis)];
  Dim length = halves_in ? (size - 1) * 2 : size;
  if (c.has(1)) length = positive(c, 1).value_or(c.fresh("dft"));
  size = halves_out ? half_spectrum(length) : length;
  dims.back() = halves_in ? 1 : 2;
  c.set(0, c.dtype(0), std::move(dims));
}

// signal [batch, length, 1 or 2] -> [batch, frames, bins, 2]
void stft_type(Inference& c) {
  if (c.has(2)) c.require_same_dtype(0, 2);
  auto step = positive(c, 1), frame = positive(c, 3);
  if (!c.has(2) && !c.has(3)) c.fail(-1, "a window or a frame length", "neither");
  if (!frame && !c.has(3) && c.is_ranked(2)) {
    if (c.rank(2) != 1) c.fail(2, "shape [frame length]", to_string(c.type(2)));
    frame = c.dims(2)[0];
  }
  if (!frame) frame = c.fresh("frame");
  Dim bins = c.attrs<StftAttrs>().one_sided ? half_spectrum(*frame) : *frame;
  if (!c.is_ranked(0)) return c.set(0, c.dtype(0), {c.fresh("batch"), c.fresh("frames"), bins, 2});
  require_complex(c, 0);
  if (c.rank(0) != 3) c.fail(0, "shape [batch, length, 1 or 2]", to_string(c.type(0)));
  const Dims& dims = c.dims(0);
  if (dims[1].is_constant() && frame->is_constant() && dims[1].constant() < frame->constant())
    c.fail(0, fmt::format("a signal of at least {}", frame->constant()), to_string(c.type(0)));
  Dim frames = step ? floordiv(dims[1] - *frame, *step) + 1 : c.fresh("frames");
  c.set(0, c.dtype(0), {dims[0], frames, bins, 2});
}

// [dft_length / 2 + 1, bins]
void mel_weight_matrix_type(Inference& c) {
  auto bins = positive(c, 0), length = positive(c, 1);
  Dims dims{length ? half_spectrum(*length) : c.fresh("spectrum"), bins ? *bins : c.fresh("mel")};
  c.set(0, c.attrs<MelWeightMatrixAttrs>().to, std::move(dims));
}

}  // namespace ingot::rules
