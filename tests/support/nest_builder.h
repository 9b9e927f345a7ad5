#pragma once

#include "ir/op_info.h"
#include "kernel/loop_nest.h"

namespace ingot {

// Loop nests for tests. Strides and extents are constants; use `nest` for what else there is.
struct NestBuilder {
  kernel::LoopNest nest;

  // Parallel axes, then reduced ones; vectors lie along the last.
  NestBuilder(const std::vector<int64_t>& parallel, const std::vector<int64_t>& reduced) {
    for (int64_t n : parallel) nest.axes.push_back({kernel::Size::of(n), false});
    for (int64_t n : reduced) nest.axes.push_back({kernel::Size::of(n), true});
    nest.vector_axis = static_cast<int32_t>(nest.axes.size()) - 1;
  }

  int32_t access(DType dtype, const std::vector<int64_t>& strides) {
    kernel::Access a{.dtype = dtype, .strides = {}};
    for (int64_t s : strides) a.strides.push_back(kernel::Size::of(s));
    nest.accesses.push_back(a);
    return static_cast<int32_t>(nest.accesses.size()) - 1;
  }
  int32_t add(kernel::Expr e) {
    nest.exprs.push_back(std::move(e));
    return static_cast<int32_t>(nest.exprs.size()) - 1;
  }
  DType type(int32_t expr) const { return nest.exprs.at(static_cast<size_t>(expr)).dtype; }

  int32_t load(int32_t access) {
    const DType dtype = nest.accesses.at(static_cast<size_t>(access)).dtype;
    return add({.kind = kernel::ExprKind::load,
                .dtype = kernel::arithmetic_type(dtype),
                .args = {},
                .source = access});
  }
  int32_t load(DType dtype, const std::vector<int64_t>& strides) { return load(access(dtype, strides)); }
  int32_t real(double value, DType dtype = DType::f32) {
    return add({.kind = kernel::ExprKind::constant, .dtype = dtype, .args = {}, .real = value});
  }
  int32_t integer(int64_t value, DType dtype = DType::i64) {
    return add({.kind = kernel::ExprKind::constant, .dtype = dtype, .args = {}, .integer = value});
  }
  int32_t index(int32_t axis) {
    return add({.kind = kernel::ExprKind::index, .dtype = DType::i64, .args = {}, .source = axis});
  }
  // The type is that of the last operand unless given.
  int32_t op(Op op, const std::vector<int32_t>& args, std::optional<DType> dtype = {}) {
    return add(
        {.kind = kernel::ExprKind::op, .op = op, .dtype = dtype.value_or(type(args.back())), .args = args});
  }
  int32_t fma(int32_t a, int32_t b, int32_t c) {
    return add({.kind = kernel::ExprKind::fma, .dtype = DType::f32, .args = {a, b, c}});
  }
  int32_t reduce(Op op, int32_t arg) {
    return add({.kind = kernel::ExprKind::reduce, .op = op, .dtype = type(arg), .args = {arg}});
  }
  void store(int32_t access, int32_t expr) { nest.stores.push_back({access, expr}); }
  void store(DType dtype, const std::vector<int64_t>& strides, int32_t expr) {
    store(access(dtype, strides), expr);
  }
};

}  // namespace ingot
