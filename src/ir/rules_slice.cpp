#include "ir/rules.h"

// Sizes that follow from positions along axes: slice, pad, split, range.
namespace ingot::rules {
namespace {

// The axes an operand gives, or the first ones of which there are `count`; empty where they are not known.
std::optional<std::vector<int64_t>> axes_of(const Inference& c, size_t operand, int64_t count) {
  std::vector<int64_t> axes;
  if (!c.has(operand)) {
    if (count > c.rank(0)) c.fail(-1, fmt::format("at most {} axes", c.rank(0)), fmt::format("{}", count));
    for (int64_t i = 0; i < count; ++i) axes.push_back(i);
    return axes;
  }
  auto given = c.constants(operand);
  if (!given) return std::nullopt;
  if (static_cast<int64_t>(given->size()) != count)
    c.fail(static_cast<int>(operand), fmt::format("{} axes", count), fmt::format("{}", given->size()));
  return c.axes(*given, c.rank(0));
}

// A position counted from the end when negative; `low` and `high` bound the result. Empty where the sign is
// not known.
std::optional<Dim> position(const Dim& at, const Dim& size, const Dim& low, const Dim& high) {
  if (at.low() >= Dim::kMax) return high;
  if (at.high() <= -Dim::kMax) return low;
  if (at.low() >= 0) return min(at, high);
  if (at.high() < 0) return max(at + size, low);
  return std::nullopt;
}

// Where a walk backwards starts; -1, before the first element, on an empty axis.
std::optional<Dim> backward_start(const Dim& at, const Dim& size) {
  return at == Dim(-1) ? size - 1 : position(at, size, min(size - 1, 0), size - 1);
}

// How many elements a slice takes. Where `start` is not negative it needs no upper bound: nothing is less
// than 0.
std::optional<Dim> slice_size(const Dim& size, const Dim& start, const Dim& end, int64_t step) {
  bool bounded = start.low() >= 0 && start.high() < Dim::kMax;
  auto from = step < 0 ? backward_start(start, size) : bounded ? start : position(start, size, 0, size);
  auto to = position(end, size, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  if (!from || !to) return std::nullopt;
  Dim span = step > 0 ? *to - *from : *from - *to;
  return max(ceildiv(span, std::abs(step)), 0);
}

Dim slice_size_or_fresh(const Inference& c, const Dim& size, const std::optional<std::vector<Dim>>& starts,
                        const std::optional<std::vector<Dim>>& ends,
                        const std::optional<std::vector<Dim>>& steps, size_t i) {
  if (!starts || !ends || !steps || !(*steps)[i].is_constant()) return c.fresh("slice");
  auto known =
      slice_size(size, (*starts)[i], (*ends)[i], std::clamp((*steps)[i].constant(), -Dim::kMax, Dim::kMax));
  return known ? *known : c.fresh("slice");
}

}  // namespace

void slice_type(Inference& c) {
  DType dtype = c.dtype(0);
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(dtype));
  auto count = c.value_count(1);
  for (size_t i = 2; i <= 4; ++i)
    if (auto n = c.value_count(i); c.has(i) && count && n && *n != *count)
      c.fail(static_cast<int>(i), fmt::format("{} values", *count), fmt::format("{}", *n));
  auto axes = count ? axes_of(c, 3, *count) : std::nullopt;
  if (!axes) return c.set(0, c.fresh_type(dtype, c.rank(0), "slice"));
  auto starts = c.values(1), ends = c.values(2), steps = c.values(4);
  if (!c.has(4)) steps = std::vector<Dim>(axes->size(), Dim(1));
  if (steps && std::find(steps->begin(), steps->end(), Dim(0)) != steps->end())
    c.fail(4, "steps other than 0", to_string(*steps));
  Dims out = c.dims(0);
  for (size_t i = 0; i < axes->size(); ++i) {
    Dim& size = out[static_cast<size_t>((*axes)[i])];
    size = slice_size_or_fresh(c, size, starts, ends, steps, i);
  }
  c.set(0, dtype, std::move(out));
}

// `pads` holds what comes before each axis, then what comes after; a negative one cuts.
void pad_type(Inference& c) {
  DType dtype = c.dtype(0);
  if (c.has(2)) c.require_same_dtype(0, 2);
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(dtype));
  auto count = c.value_count(1);
  if (count && *count % 2 != 0) c.fail(1, "two values for each axis", fmt::format("{}", *count));
  if (count && !c.has(3) && *count != 2 * c.rank(0))
    c.fail(1, fmt::format("{} values", 2 * c.rank(0)), fmt::format("{}", *count));
  auto axes = count ? axes_of(c, 3, *count / 2) : std::nullopt;
  auto pads = c.values(1);
  if (!axes) return c.set(0, c.fresh_type(dtype, c.rank(0), "pad"));
  Dims out = c.dims(0);
  for (size_t i = 0; i < axes->size(); ++i) {
    Dim& size = out[static_cast<size_t>((*axes)[i])];
    size = pads ? size + (*pads)[i] + (*pads)[i + axes->size()] : c.fresh("pad");
    if (size.high() < 0) c.fail(1, "pads that leave a size of 0 or more", to_string(*pads));
  }
  c.set(0, dtype, std::move(out));
}

// Without sizes the parts are equal, but for the last ones, which take what is left.
void split_type(Inference& c) {
  DType dtype = c.dtype(0);
  size_t parts = c.output_count();
  if (auto n = c.value_count(1); n && *n != static_cast<int64_t>(parts))
    c.fail(1, fmt::format("{} sizes, one for each output", parts), fmt::format("{}", *n));
  for (size_t i = 0; i < parts; ++i) c.set(i, Type::unranked(dtype));
  if (!c.is_ranked(0)) return;
  auto axis = static_cast<size_t>(c.axis(c.attrs<SplitAttrs>().axis, c.rank(0)));
  auto sizes = c.values(1);
  Dim whole = c.dims(0)[axis], sum = 0;
  auto n = static_cast<int64_t>(parts);
  for (size_t i = 0; i < parts; ++i) {
    Dim size;
    if (!c.has(1))
      size = max(min(ceildiv(whole, n), whole - Dim(static_cast<int64_t>(i)) * ceildiv(whole, n)), 0);
    else
      size = sizes ? (*sizes)[i] : c.fresh("split");
    if (size.high() < 0) c.fail(1, "sizes of 0 or more", to_string(*sizes));
    sum = sum + size;
    Dims dims = c.dims(0);
    dims[axis] = size;
    c.set(i, dtype, std::move(dims));
  }
  if (sum.is_constant() && whole.is_constant() && sum != whole)
    c.fail(1, fmt::format("sizes that sum to {}", whole.constant()), fmt::format("{}", sum.constant()));
}

// start, start + step ... below limit (above it where the step is negative).
void range_type(Inference& c) {
  c.require_same_dtype(0, 1);
  c.require_same_dtype(0, 2);
  for (int i = 0; i < 3; ++i)
    if (auto n = c.value_count(static_cast<size_t>(i)); n && *n != 1)
      c.fail(i, "one value", fmt::format("{}", *n));
  auto start = c.values(0), limit = c.values(1), step = c.values(2);
  if (!start || !limit || !step || !step->at(0).is_constant())
    return c.set(0, c.dtype(0), {c.fresh("range")});
  int64_t by = step->at(0).constant();
  if (by == 0) c.fail(2, "a step other than 0", "0");
  if (by == INT64_MIN) ++by;
  Dim span = by > 0 ? limit->at(0) - start->at(0) : start->at(0) - limit->at(0);
  c.set(0, c.dtype(0), {max(ceildiv(span, std::abs(by)), 0)});
}

}  // namespace ingot::rules
