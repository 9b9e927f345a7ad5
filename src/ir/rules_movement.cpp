#include "ir/rule_helpers.h"
#include "ir/rules.h"
#include "ir/shape_values.h"

namespace ingot::rules {

void shape_of_type(Inference& c) {
  if (!c.is_ranked(0)) return c.set(0, DType::i64, {c.fresh("rank")});
  const auto& a = c.attrs<ShapeOfAttrs>();
  auto [start, end] = axis_range(a, c.rank(0));
  c.set(0, DType::i64, {end - start});
}

// One size may be -1: it takes what is left. A size of 0 repeats the operand's, unless zero_is_zero.
void reshape_type(Inference& c) {
  DType dtype = c.dtype(0);
  auto wanted = c.values(1);
  if (!wanted) {
    auto count = c.value_count(1);
    return c.set(0, count ? c.fresh_type(dtype, *count, "reshape") : Type::unranked(dtype));
  }
  Dims out;
  std::optional<size_t> rest;
  for (size_t i = 0; i < wanted->size(); ++i) {
    const Dim& d = (*wanted)[i];
    if (d == Dim(-1)) {
      if (rest) c.fail(1, "at most one size of -1", to_string(*wanted));
      rest = i;
      out.push_back(1);
    } else if (d == Dim(0) && !c.attrs<ReshapeAttrs>().zero_is_zero) {
      if (c.is_ranked(0) && i >= c.dims(0).size())
        c.fail(1, "0 only where the operand has a size", to_string(*wanted));
      out.push_back(c.is_ranked(0) ? c.dims(0)[i] : c.fresh("reshape"));
    } else if (d.is_constant() && d.constant() < 0) {
      c.fail(1, "sizes of -1 or more", to_string(*wanted));
    } else {
      out.push_back(d);
    }
  }
  if (!c.is_ranked(0)) {
    if (rest) out[*rest] = c.fresh("reshape");
    return c.set(0, dtype, std::move(out));
  }
  Dim have = product(c.dims(0)), asked = product(out);
  if (rest) {
    if (asked == Dim(0)) c.fail(1, "no size of 0 beside -1", to_string(*wanted));
    if (have.is_constant() && asked.is_constant() && have.constant() % asked.constant() != 0)
      c.fail(1, fmt::format("sizes that divide {} elements", have.constant()), to_string(*wanted));
    out[*rest] = floordiv(have, asked);
  } else if (have.is_constant() && asked.is_constant() && have != asked) {
    c.fail(1, fmt::format("a shape of {} elements", have.constant()), to_string(out));
  }
  c.set(0, dtype, std::move(out));
}

// Without axes every axis of size 1 goes, so the rank is known only where every size is.
void squeeze_type(Inference& c) {
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(c.dtype(0)));
  const Dims& in = c.dims(0);
  Dims out;
  if (!c.has(1)) {
    for (const Dim& d : in) {
      if (!d.is_constant() && d.low() <= 1 && d.high() >= 1) return c.set(0, Type::unranked(c.dtype(0)));
      if (d != Dim(1)) out.push_back(d);
    }
    return c.set(0, c.dtype(0), std::move(out));
  }
  auto given = c.constants(1);
  if (!given) return c.set(0, Type::unranked(c.dtype(0)));
  auto axes = c.axes(*given, c.rank(0));
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      out.push_back(in[i]);
    else if (in[i].low() > 1 || in[i].high() < 1)
      c.fail(0, fmt::format("size 1 along axis {}", i), to_string(in));
  }
  c.set(0, c.dtype(0), std::move(out));
}

void unsqueeze_type(Inference& c) {
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(c.dtype(0)));
  auto given = c.constants(1);
  if (!given) {
    auto count = c.value_count(1);
    return c.set(
        0, count ? c.fresh_type(c.dtype(0), c.rank(0) + *count, "unsqueeze") : Type::unranked(c.dtype(0)));
  }
  auto axes = c.axes(*given, c.rank(0) + static_cast<int64_t>(given->size()));
  std::sort(axes.begin(), axes.end());
  Dims out = c.dims(0);
  for (int64_t axis : axes) out.insert(out.begin() + axis, 1);
  c.set(0, c.dtype(0), std::move(out));
}

// Both ways: a size of 1 on either side stretches, and the longer shape gives the rank.
void broadcast_to_type(Inference& c) {
  auto wanted = c.values(1);
  if (!wanted || !c.is_ranked(0)) {
    auto count = c.value_count(1);
    if (!count || !c.is_ranked(0)) return c.set(0, Type::unranked(c.dtype(0)));
    return c.set(0, c.fresh_type(c.dtype(0), std::max(*count, c.rank(0)), "expand"));
  }
  for (const Dim& d : *wanted)
    if (d.high() < 0) c.fail(1, "sizes of 0 or more", to_string(*wanted));
  auto out = broadcast(c.dims(0), *wanted);
  if (!out) c.fail(1, "a shape that broadcasts with " + to_string(c.dims(0)), to_string(*wanted));
  c.set(0, c.dtype(0), std::move(*out));
}

void tile_type(Inference& c) {
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(c.dtype(0)));
  auto repeats = c.values(1);
  if (!repeats) return c.set(0, c.fresh_type(c.dtype(0), c.rank(0), "tile"));
  Dims out = c.dims(0);
  if (repeats->size() != out.size())
    c.fail(1, fmt::format("{} repeats", out.size()), fmt::format("{}", repeats->size()));
  for (size_t i = 0; i < out.size(); ++i) {
    if ((*repeats)[i].high() < 0) c.fail(1, "repeats of 0 or more", to_string(*repeats));
    out[i] = out[i] * (*repeats)[i];
  }
  c.set(0, c.dtype(0), std::move(out));
}

void transpose_type(Inference& c) {
  const auto& permutation = c.attrs<TransposeAttrs>().permutation;
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(c.dtype(0)));
  const Dims& in = c.dims(0);
  if (permutation.empty()) return c.set(0, c.dtype(0), Dims(in.rbegin(), in.rend()));
  if (permutation.size() != in.size())
    c.fail(-1, fmt::format("a permutation of {} axes", in.size()), fmt::format("{}", permutation.size()));
  Dims out;
  for (int64_t axis : c.axes(permutation, c.rank(0))) out.push_back(in[static_cast<size_t>(axis)]);
  c.set(0, c.dtype(0), std::move(out));
}

void concat_type(Inference& c) {
  if (c.operand_count() == 0) c.fail(-1, "at least one operand", "none");
  DType dtype = c.dtype(0);
  for (size_t i = 1; i < c.operand_count(); ++i) c.require_same_dtype(0, i);
  for (size_t i = 0; i < c.operand_count(); ++i)
    if (!c.is_ranked(i)) return c.set(0, Type::unranked(dtype));
  Dims out = c.dims(0);
  auto axis = static_cast<size_t>(c.axis(c.attrs<ConcatAttrs>().axis, c.rank(0)));
  for (size_t i = 1; i < c.operand_count(); ++i) {
    const Dims& in = c.dims(i);
    if (in.size() != out.size())
      c.fail(static_cast<int>(i), fmt::format("rank {}", out.size()), to_string(in));
    for (size_t k = 0; k < out.size(); ++k) {
      if (k == axis) {
        out[k] = out[k] + in[k];
      } else if (out[k].is_constant() && in[k].is_constant() && out[k] != in[k]) {
        c.fail(static_cast<int>(i), fmt::format("{} along axis {}", out[k].constant(), k), to_string(in));
      } else if (in[k].is_constant()) {
        out[k] = in[k];
      }
    }
  }
  c.set(0, dtype, std::move(out));
}

}  // namespace ingot::rules
