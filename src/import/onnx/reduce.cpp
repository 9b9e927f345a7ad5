#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

namespace ingot {
namespace {

// The axes of a reduction became an input in opset 18, of a sum in 13.
template <auto Method, class A>
Value reduce_by(OnnxNodeContext& c, Value x, int axes_input_since = 18) {
  Value axes = c.ints_of(1, "axes", c.opset() < axes_input_since);
  return (c.g().*Method)(x, axes,
                         A{.keep_dims = c.flag_attr("keepdims", true),
                           .keep_if_no_axes = c.flag_attr("noop_with_empty_axes", false)});
}

Value sum(OnnxNodeContext& c, Value x, int axes_input_since = 18) {
  return reduce_by<&GraphBuilder::reduce_sum, ReduceSumAttrs>(c, x, axes_input_since);
}

template <auto Method, class A>
std::vector<Value> reduce(OnnxNodeContext& c) {
  return {reduce_by<Method, A>(c, c.in(0))};
}

// For reductions made of several steps: f of the operand in a type wide enough that no step between overflows
// or loses what the result keeps.
template <class F>
std::vector<Value> in_wide_type(OnnxNodeContext& c, F f) {
  GraphBuilder& g = c.g();
  DType own = c.dtype(0), wide = own;
  if (is_floating(own))
    wide = bit_width(own) < 32 ? DType::f32 : own;
  else if (is_integer(own))
    wide = DType::f64;
  return {cast_to(g, f(cast_to(g, c.in(0), wide)), own)};
}

// In the type of the operand, so that integers wrap.
std::vector<Value> reduce_l1(OnnxNodeContext& c) { return {sum(c, c.g().abs(c.in(0)))}; }

std::vector<Value> reduce_sum_square(OnnxNodeContext& c) {
  if (is_integer(c.dtype(0))) return {sum(c, c.g().mul(c.in(0), c.in(0)))};
  return in_wide_type(c, [&](Value x) { return sum(c, c.g().mul(x, x)); });
}

std::vector<Value> reduce_l2(OnnxNodeContext& c) {
  return in_wide_type(c, [&](Value x) { return c.g().sqrt(sum(c, c.g().mul(x, x))); });
}

std::vector<Value> reduce_log_sum(OnnxNodeContext& c) {
  return in_wide_type(c, [&](Value x) { return c.g().log(sum(c, x)); });
}

// The largest element is taken out of the exponents and put back, unless it is infinite.
std::vector<Value> reduce_log_sum_exp(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  return in_wide_type(c, [&](Value x) {
    Value axes = c.ints_of(1, "axes", c.opset() < 18);
    bool keep_if_no_axes = c.flag_attr("noop_with_empty_axes", false);
    Value largest = g.reduce_max(x, axes, {.keep_dims = true, .keep_if_no_axes = keep_if_no_axes});
    Value finite = g.select(g.is_inf(largest), zero(g, g.dtype(x)), largest);
    ReduceSumAttrs form{.keep_dims = true, .keep_if_no_axes = keep_if_no_axes};
    Value result = g.add(g.log(g.reduce_sum(g.exp(g.sub(x, finite)), axes, form)), finite);
    // Each axis that is left has one element, so summing drops it.
    if (c.flag_attr("keepdims", true)) return result;
    form.keep_dims = false;
    return g.reduce_sum(result, axes, form);
  });
}

template <auto Method, class A>
std::vector<Value> arg_reduce(OnnxNodeContext& c) {
  return {(c.g().*Method)(c.in(0), A{.axis = c.int_attr("axis", 0),
                                     .keep_dims = c.flag_attr("keepdims", true),
                                     .last = c.flag_attr("select_last_index", false)})};
}

template <auto Method, class A>
std::vector<Value> cumulative(OnnxNodeContext& c) {
  return {(c.g().*Method)(
      c.in(0), c.ints_of(1, "axis", false),
      A{.exclusive = c.flag_attr("exclusive", false), .reverse = c.flag_attr("reverse", false)})};
}

}  // namespace

void add_onnx_reduce(OnnxOpTable& t) {
  t[{"", "ReduceSum"}] = {.import = [](OnnxNodeContext& c) { return std::vector{sum(c, c.in(0), 13)}; }};
  t[{"", "ReduceMean"}] = {.import = reduce<&GraphBuilder::reduce_mean, ReduceMeanAttrs>};
  t[{"", "ReduceProd"}] = {.import = reduce<&GraphBuilder::reduce_prod, ReduceProdAttrs>};
  t[{"", "ReduceMax"}] = {.import = reduce<&GraphBuilder::reduce_max, ReduceMaxAttrs>};
  t[{"", "ReduceMin"}] = {.import = reduce<&GraphBuilder::reduce_min, ReduceMinAttrs>};
  t[{"", "ReduceL1"}] = {.import = reduce_l1};
  t[{"", "ReduceL2"}] = {.import = reduce_l2};
  t[{"", "ReduceSumSquare"}] = {.import = reduce_sum_square};
  t[{"", "ReduceLogSum"}] = {.import = reduce_log_sum};
  t[{"", "ReduceLogSumExp"}] = {.import = reduce_log_sum_exp};
  t[{"", "ArgMax"}] = {.import = arg_reduce<&GraphBuilder::arg_max, ArgMaxAttrs>};
  t[{"", "ArgMin"}] = {.import = arg_reduce<&GraphBuilder::arg_min, ArgMinAttrs>};
  t[{"", "CumSum"}] = {.import = cumulative<&GraphBuilder::cum_sum, CumSumAttrs>, .first_opset = 11};
  t[{"", "CumProd"}] = {.import = cumulative<&GraphBuilder::cum_prod, CumProdAttrs>, .first_opset = 26};
}

}  // namespace ingot
