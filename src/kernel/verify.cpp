#include <fmt/format.h>

#include <algorithm>

#include "ingot/error.h"
#include "ir/op_info.h"
#include "kernel/loop_nest.h"

namespace ingot::kernel {
namespace {

class Verifier {
 public:
  Verifier(const LoopNest& nest, bool is_epilogue) : nest_(nest), is_epilogue_(is_epilogue) {}

  void run() {
    check_axes();
    for (size_t i = 0; i < nest_.accesses.size(); ++i) check_access(i);
    for (size_t i = 0; i < nest_.exprs.size(); ++i) check_expr(i);
    for (size_t i = 0; i < nest_.stores.size(); ++i) check_store(i);
  }

 private:
  void require(bool holds, std::string_view part, size_t index, std::string_view expected) const {
    if (holds) return;
    throw Error({.code = ErrorCode::internal,
                 .object = "loop nest",
                 .expected = fmt::format("{} {}: {}", part, index, expected),
                 .observed = "\n" + to_string(nest_)});
  }

  void check_axes() const {
    const auto& axes = nest_.axes;
    require(!axes.empty(), "axis", 0, "at least one axis");
    const auto vector_axis = static_cast<size_t>(nest_.vector_axis);
    require(vector_axis < axes.size(), "vector axis", vector_axis, "an axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      require(axes[i].extent.param >= 0 || axes[i].extent.value >= 0, "axis", i, "a size");
      require(i == 0 || axes[i].reduced || !axes[i - 1].reduced, "axis", i,
              "reduced axes after parallel ones");
      if (i > vector_axis)
        require(axes[i].reduced != axes[vector_axis].reduced, "axis", i,
                "vectors along the last axis of a kind");
    }
  }

  void check_access(size_t i) const {
    const Access& access = nest_.accesses[i];
    require(access.strides.size() == nest_.axes.size(), "access", i, "one stride per axis");
    require(access.dtype == DType::boolean || bit_width(access.dtype) >= 8, "access", i,
            "elements of whole bytes");
    require(!is_floating(access.dtype) || bit_width(access.dtype) > 8, "access", i, "no 8-bit floats");
  }

  DType type_of(int32_t expr) const {
    return arithmetic_type(nest_.exprs.at(static_cast<size_t>(expr)).dtype);
  }

  void check_expr(size_t i) const {
    const Expr& e = nest_.exprs[i];
    for (int32_t arg : e.args)
      require(arg >= 0 && static_cast<size_t>(arg) < i, "expression", i, "operands before it");
    const auto source = static_cast<size_t>(e.source);
    switch (e.kind) {
      case ExprKind::load:
        require(source < nest_.accesses.size(), "expression", i, "an access to load");
        return require(arithmetic_type(nest_.accesses[source].dtype) == arithmetic_type(e.dtype),
                       "expression", i, "the type of its access");
      case ExprKind::index:
        return require(source < nest_.axes.size() && e.dtype == DType::i64, "expression", i,
                       "an axis, as i64");
      case ExprKind::op: return check_op(i);
      case ExprKind::reduce: return check_reduce(i);
      case ExprKind::accumulator:
        return require(is_epilogue_ && (e.dtype == DType::f32 || e.dtype == DType::i32), "expression", i,
                       "sums of a tile, as f32 or i32");
      case ExprKind::fma: return check_fma(i);
      case ExprKind::constant: return require(e.args.empty(), "expression", i, "no operands");
    }
  }

  void check_op(size_t i) const {
    const Expr& e = nest_.exprs[i];
    const OpInfo& info = op_info(e.op);
    require(info.is(Pointwise), "expression", i, "a pointwise op");
    require(e.args.size() == info.operands.size(), "expression", i, "the operands of its op");
    require(arithmetic_type(e.dtype) == e.dtype, "expression", i, "a type that is computed in");
    const size_t first = e.op == Op::Select ? 1 : 0;
    if (first == 1) require(type_of(e.args[0]) == DType::boolean, "expression", i, "a boolean condition");
    for (size_t a = first + 1; a < e.args.size() && e.op != Op::Pow; ++a)
      require(type_of(e.args[a]) == type_of(e.args[first]), "expression", i, "operands of one type");
    require(result_type(e, type_of(e.args[first])) == e.dtype, "expression", i, "the type its op gives");
  }

  void check_fma(size_t i) const {
    const Expr& e = nest_.exprs[i];
    const bool is_f32 = e.dtype == DType::f32 &&
                        std::ranges::all_of(e.args, [&](int32_t arg) { return type_of(arg) == DType::f32; });
    require(is_f32 && e.args.size() == 3, "expression", i, "three operands of f32, and the result");
  }

  static DType result_type(const Expr& e, DType operand) {
    switch (e.op) {
      case Op::Cast:
      case Op::BitCast: return e.dtype;
      case Op::Equal:
      case Op::Less:
      case Op::LessOrEqual:
      case Op::IsNan:
      case Op::IsInf: return DType::boolean;
      default: return operand;
    }
  }

  void check_reduce(size_t i) const {
    const Expr& e = nest_.exprs[i];
    constexpr Op kFolds[] = {Op::ReduceSum, Op::ReduceProd, Op::ReduceMax, Op::ReduceMin};
    require(std::ranges::find(kFolds, e.op) != std::end(kFolds), "expression", i, "a fold");
    require(e.args.size() == 1 && type_of(e.args[0]) == e.dtype, "expression", i, "one operand of its type");
    require(std::ranges::any_of(nest_.axes, &Axis::reduced), "expression", i, "a reduced axis");
  }

  void check_store(size_t i) const {
    const Store& store = nest_.stores[i];
    const auto access = static_cast<size_t>(store.access), expr = static_cast<size_t>(store.expr);
    require(access < nest_.accesses.size() && expr < nest_.exprs.size(), "store", i,
            "an access and an expression");
    const Access& to = nest_.accesses[access];
    require(arithmetic_type(to.dtype) == type_of(store.expr), "store", i, "the type of its access");
    for (size_t a = 0; a < nest_.axes.size(); ++a) {
      const bool may_repeat = to.strides[a].is(0) && !nest_.axes[a].extent.is(1);
      if (!nest_.axes[a].reduced) require(!may_repeat, "store", i, "an element of its own for every point");
      if (nest_.axes[a].reduced && may_repeat)
        require(!varies(nest_, store.expr, static_cast<int32_t>(a)), "store", i,
                "one value for each element");
    }
  }

  const LoopNest& nest_;
  bool is_epilogue_;
};

}  // namespace

void verify(const LoopNest& nest) { Verifier(nest, false).run(); }

void verify(const TileKernel& tile) {
  Verifier(tile.epilogue, true).run();
  auto require = [&](bool holds, std::string_view expected) {
    if (!holds)
      throw Error({.code = ErrorCode::internal,
                   .object = "tile",
                   .expected = std::string(expected),
                   .observed = "\n" + to_string(tile)});
  };
  require(tile.rows >= 1 && tile.vectors >= 1, "rows and vectors");
  require(tile.window.taps == 0 || (tile.kind != TileKind::dot && tile.a == DType::f32), "no window of it");
  require(tile.epilogue.axes.size() == 2 && tile.epilogue.vector_axis == 1,
          "an epilogue over rows and columns");
  for (const Axis& axis : tile.epilogue.axes) require(!axis.reduced, "an epilogue without reductions");
  for (const Access& access : tile.epilogue.accesses)
    require(access.strides[1].is(0) || access.strides[1].is(1),
            "an epilogue with stride 0 or 1 along columns");
}

}  // namespace ingot::kernel
