#include "ir/rules.h"

namespace ingot::rules {
namespace {

struct ReduceForm {
  bool keep_dims, keep_if_no_axes;
};

// The reductions share their attributes, but each has a struct of its own.
ReduceForm reduce_form(const Inference& c) {
  auto of = [](const auto& a) { return ReduceForm{a.keep_dims, a.keep_if_no_axes}; };
  switch (c.op()) {
    case Op::ReduceSum: return of(c.attrs<ReduceSumAttrs>());
    case Op::ReduceMean: return of(c.attrs<ReduceMeanAttrs>());
    case Op::ReduceProd: return of(c.attrs<ReduceProdAttrs>());
    case Op::ReduceMax: return of(c.attrs<ReduceMaxAttrs>());
    default: return of(c.attrs<ReduceMinAttrs>());
  }
}

// The type when the axes themselves are known only at run time.
Type reduced_by_unknown_axes(const Inference& c, ReduceForm form) {
  if (form.keep_dims) return c.fresh_type(c.dtype(0), c.rank(0), "reduce");
  auto count = c.value_count(1);
  if (!count) return Type::unranked(c.dtype(0));
  return c.fresh_type(c.dtype(0), std::max<int64_t>(c.rank(0) - *count, 0), "reduce");
}

Dims without(const Dims& dims, const std::vector<int64_t>& axes, bool keep_dims) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      out.push_back(dims[i]);
    else if (keep_dims)
      out.push_back(1);
  }
  return out;
}

}  // namespace

void reduce_type(Inference& c) {
  ReduceForm form = reduce_form(c);
  bool no_axes = !c.has(1) || c.value_count(1) == 0;
  if (no_axes && form.keep_if_no_axes) return c.set(0, c.type(0));
  if (!c.is_ranked(0))
    return c.set(0, no_axes && !form.keep_dims ? Type::tensor(c.dtype(0), {}) : Type::unranked(c.dtype(0)));
  if (no_axes) return c.set(0, c.dtype(0), form.keep_dims ? Dims(c.dims(0).size(), Dim(1)) : Dims());
  auto given = c.constants(1);
  if (!given) return c.set(0, reduced_by_unknown_axes(c, form));
  c.set(0, c.dtype(0), without(c.dims(0), c.axes(*given, c.rank(0)), form.keep_dims));
}

void arg_reduce_type(Inference& c) {
  bool is_max = c.op() == Op::ArgMax;
  int64_t axis = is_max ? c.attrs<ArgMaxAttrs>().axis : c.attrs<ArgMinAttrs>().axis;
  bool keep_dims = is_max ? c.attrs<ArgMaxAttrs>().keep_dims : c.attrs<ArgMinAttrs>().keep_dims;
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(DType::i64));
  axis = c.axis(axis, c.rank(0));
  if (c.dims(0)[static_cast<size_t>(axis)] == Dim(0))
    c.fail(0, fmt::format("at least one element along axis {}", axis), to_string(c.dims(0)));
  c.set(0, DType::i64, without(c.dims(0), {axis}, keep_dims));
}

}  // namespace ingot::rules
