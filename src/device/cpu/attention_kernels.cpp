#include "device/cpu/attention_kernels.h"

#include <limits>

namespace ingot::cpu {
namespace {

using kernel::Access;
using kernel::Expr;
using kernel::ExprKind;
using kernel::LoopNest;
using kernel::Size;

// Appends expressions to a nest; all but conditions compute in f32.
class NestBuilder {
 public:
  explicit NestBuilder(LoopNest& nest) : nest_(nest) {}

  int32_t add(Expr expr) {
    nest_.exprs.push_back(std::move(expr));
    return static_cast<int32_t>(nest_.exprs.size()) - 1;
  }
  int32_t op(Op op, std::vector<int32_t> args) {
    return add({.kind = ExprKind::op, .op = op, .args = std::move(args)});
  }
  int32_t number(double value) { return add({.kind = ExprKind::constant, .args = {}, .real = value}); }
  int32_t reduce(Op op, int32_t arg) { return add({.kind = ExprKind::reduce, .op = op, .args = {arg}}); }
  int32_t accumulator() { return add({.kind = ExprKind::accumulator, .args = {}}); }

  int32_t access(DType dtype, std::vector<Size> strides) {
    nest_.accesses.push_back({dtype, std::move(strides)});
    return static_cast<int32_t>(nest_.accesses.size()) - 1;
  }
  int32_t load(DType dtype, std::vector<Size> strides) {
    const DType arithmetic = kernel::arithmetic_type(dtype);
    return add({.kind = ExprKind::load,
                .dtype = arithmetic,
                .args = {},
                .source = access(dtype, std::move(strides))});
  }
  void store(int32_t expr, DType dtype, std::vector<Size> strides) {
    nest_.stores.push_back({access(dtype, std::move(strides)), expr});
  }

 private:
  LoopNest& nest_;
};

const Size kNone = Size::of(0), kNext = Size::of(1);

LoopNest tile_epilogue() {
  return {.axes = {{Size::given(0), false}, {Size::given(1), false}},
          .accesses = {},
          .exprs = {},
          .stores = {},
          .vector_axis = 1};
}

}  // namespace

LoopNest score_epilogue(const ScoreForm& form) {
  LoopNest nest = tile_epilogue();
  NestBuilder b(nest);
  int32_t score = b.accumulator();
  if (form.scale != 1) score = b.op(Op::Mul, {score, b.number(form.scale)});
  if (form.softcap > 0) {
    const int32_t cap = b.number(form.softcap);
    score = b.op(Op::Mul, {b.op(Op::Tanh, {b.op(Op::Div, {score, cap})}), cap});
  }
  if (form.mask) {
    const int32_t mask =
        b.load(*form.mask, {form.mask_rows ? kNext : kNone, form.mask_columns ? kNext : kNone});
    score = *form.mask == DType::boolean
                ? b.op(Op::Select, {mask, score, b.number(-std::numeric_limits<double>::infinity())})
                : b.op(Op::Add, {score, mask});
  }
  b.store(score, DType::f32, {kNext, kNext});
  return nest;
}

LoopNest whole_value_epilogue(DType out) {
  LoopNest nest = tile_epilogue();
  NestBuilder b(nest);
  const int32_t sum = b.accumulator();
  b.store(b.op(Op::Div, {sum, b.load(DType::f32, {kNext, kNone})}), out, {kNext, kNext});
  return nest;
}

LoopNest carried_value_epilogue() {
  LoopNest nest = tile_epilogue();
  NestBuilder b(nest);
  const int32_t sum = b.accumulator();
  const int32_t earlier = b.load(DType::f32, {kNext, kNext}), correction = b.load(DType::f32, {kNext, kNone});
  b.store(b.op(Op::Add, {sum, b.op(Op::Mul, {earlier, correction})}), DType::f32, {kNext, kNext});
  return nest;
}

LoopNest weigh_nest() {
  LoopNest nest{.axes = {{Size::given(0), false}, {Size::given(1), true}},
                .accesses = {},
                .exprs = {},
                .stores = {},
                .vector_axis = 1};
  NestBuilder b(nest);
  const std::vector<Size> row = {kNext, kNone}, whole = {Size::given(2), kNext};
  const int32_t score = b.load(DType::f32, whole), before = b.load(DType::f32, row),
                sum = b.load(DType::f32, row);
  const int32_t seen = b.op(Op::Max, {b.reduce(Op::ReduceMax, score), before});
  const int32_t largest = b.op(Op::Max, {seen, b.number(kLowestScore)});
  const int32_t weight = b.op(Op::Exp, {b.op(Op::Sub, {score, largest})});
  const int32_t correction = b.op(Op::Exp, {b.op(Op::Sub, {before, largest})});
  const int32_t total = b.op(Op::Add, {b.op(Op::Mul, {sum, correction}), b.reduce(Op::ReduceSum, weight)});
  b.store(weight, DType::f32, whole);
  for (const int32_t stored : {largest, total, correction}) b.store(stored, DType::f32, row);
  return nest;
}

LoopNest finish_nest(DType out) {
  LoopNest nest{.axes = {{Size::given(0), false}, {Size::given(1), false}, {Size::given(2), false}},
                .accesses = {},
                .exprs = {},
                .stores = {},
                .vector_axis = 2};
  NestBuilder b(nest);
  const int32_t sum = b.load(DType::f32, {Size::given(3), Size::given(4), kNext});
  const int32_t weights = b.load(DType::f32, {Size::given(5), kNext, kNone});
  b.store(b.op(Op::Div, {sum, weights}), out, {Size::given(6), Size::given(7), kNext});
  return nest;
}

}  // namespace ingot::cpu
