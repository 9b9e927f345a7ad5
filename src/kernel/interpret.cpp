#include "kernel/interpret.h"

#include <functional>
#include <optional>

#include "kernel/scalar.h"

namespace ingot::kernel {
namespace {

using Point = std::vector<int64_t>;

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, const KernelCall& call)
      : nest_(nest), call_(call), at_(nest.axes.size()) {}

  void run() {
    std::vector<size_t> outer = axes(false);
    if (outer.empty()) {
      if (call_.begin < call_.end) point();
      return;
    }
    if (outer.size() == 1) return walk_range(outer[0], call_.begin, call_.end);
    const size_t last = outer.back();
    outer.pop_back();
    for (int64_t flat = call_.begin; flat < call_.end; ++flat) {
      int64_t rest = flat;
      for (size_t k = outer.size(); k-- > 0; rest /= extent(outer[k]))
        at_[outer[k]] = rest % extent(outer[k]);
      walk_range(last, 0, extent(last));
    }
  }

 private:
  int64_t number(const Size& size) const {
    return size.param < 0 ? size.value : call_.sizes[static_cast<size_t>(size.param)];
  }
  int64_t extent(size_t axis) const { return number(nest_.axes[axis].extent); }

  std::vector<size_t> axes(bool reduced) const {
    std::vector<size_t> result;
    for (size_t i = 0; i < nest_.axes.size(); ++i)
      if (nest_.axes[i].reduced == reduced) result.push_back(i);
    return result;
  }

  void walk_range(size_t axis, int64_t begin, int64_t end) {
    for (at_[axis] = begin; at_[axis] < end; ++at_[axis]) point();
  }

  // Calls f at every point of the reduced axes.
  void walk_reduced(const std::function<void()>& f, size_t axis = 0) {
    while (axis < nest_.axes.size() && !nest_.axes[axis].reduced) ++axis;
    if (axis == nest_.axes.size()) return f();
    for (at_[axis] = 0; at_[axis] < extent(axis); ++at_[axis]) walk_reduced(f, axis + 1);
    at_[axis] = 0;
  }

  // One point of the parallel axes: everything is computed before anything is stored.
  void point() {
    folded_.assign(nest_.exprs.size(), std::nullopt);
    std::vector<std::pair<std::byte*, Scalar>> results;
    for (const Store& store : nest_.stores)
      walk_reduced([&] { results.emplace_back(address(store.access), value_at_point(store.expr)); });
    for (size_t i = 0, s = 0; s < nest_.stores.size(); ++s) {
      const Access& access = nest_.accesses[static_cast<size_t>(nest_.stores[s].access)];
      const size_t count = results.size() / nest_.stores.size();
      for (const size_t end = i + count; i < end; ++i)
        write(access.dtype, results[i].second, results[i].first);
    }
    if (results.empty()) store_without_points();
  }

  // Where a reduced axis is empty, what does not vary along it is stored all the same.
  void store_without_points() {
    for (const Store& store : nest_.stores) {
      const Access& access = nest_.accesses[static_cast<size_t>(store.access)];
      bool along_reduced = false;
      for (size_t axis : axes(true)) along_reduced |= !access.strides[axis].is(0);
      if (!along_reduced) write(access.dtype, value_at_point(store.expr), address(store.access));
    }
  }

  std::byte* address(int32_t access) const {
    const Access& a = nest_.accesses[static_cast<size_t>(access)];
    int64_t offset = 0;
    for (size_t i = 0; i < at_.size(); ++i) offset += at_[i] * number(a.strides[i]);
    return call_.memory[access] + offset * (bit_width(a.dtype) / 8);
  }

  static void write(DType dtype, const Scalar& value, std::byte* to) {
    const Scalar stored = converted(value, dtype);
    std::copy_n(stored.bytes.data(), bit_width(dtype) / 8, to);
  }

  // Values of one point of all axes are computed once.
  Scalar value_at_point(int32_t expr) {
    values_.assign(nest_.exprs.size(), std::nullopt);
    return value(expr);
  }

  Scalar value(int32_t expr) {
    auto& known = values_[static_cast<size_t>(expr)];
    if (!known) {
      const Scalar computed = compute(expr);
      values_[static_cast<size_t>(expr)] = computed;
      return computed;
    }
    return *known;
  }

  Scalar compute(int32_t expr) {
    const Expr& e = nest_.exprs[static_cast<size_t>(expr)];
    switch (e.kind) {
      case ExprKind::load: return load(e);
      case ExprKind::constant:
        return is_floating(e.dtype) ? scalar(arithmetic_type(e.dtype), e.real) : scalar(e.dtype, e.integer);
      case ExprKind::index: return scalar(e.dtype, at_[static_cast<size_t>(e.source)]);
      case ExprKind::reduce: return reduced(expr);
      default: break;
    }
    std::vector<Scalar> args;
    for (int32_t arg : e.args) args.push_back(value(arg));
    return e.kind == ExprKind::fma ? fused_multiply_add(args) : pointwise(e, args);
  }

  Scalar load(const Expr& e) const {
    Scalar stored{.dtype = nest_.accesses[static_cast<size_t>(e.source)].dtype};
    std::copy_n(address(e.source), bit_width(stored.dtype) / 8, stored.bytes.data());
    return converted(stored, arithmetic_type(stored.dtype));
  }

  Scalar reduced(int32_t expr) {
    const Expr& e = nest_.exprs[static_cast<size_t>(expr)];
    auto& known = folded_[static_cast<size_t>(expr)];
    if (known) return *known;
    auto outside = values_;
    const Point place = at_;
    const Scalar result =
        with_wide(e.dtype, [&](auto zero) { return scalar(e.dtype, fold<decltype(zero)>(e)); });
    at_ = place;
    values_ = std::move(outside);
    return *(folded_[static_cast<size_t>(expr)] = result);
  }

  template <class W>
  W fold(const Expr& e) {
    W sum = identity<W>(e);
    walk_reduced([&] {
      const W x = value_at_point(e.args[0]).template as<W>();
      switch (e.op) {
        case Op::ReduceSum: sum = wrapping(sum, x, std::plus<>()); break;
        case Op::ReduceProd: sum = wrapping(sum, x, std::multiplies<>()); break;
        case Op::ReduceMax: sum = larger(sum, x); break;
        default: sum = smaller(sum, x); break;
      }
    });
    return sum;
  }

  template <class W>
  static W identity(const Expr& e) {
    if (e.op == Op::ReduceSum) return W{0};
    if (e.op == Op::ReduceProd) return W{1};
    return e.op == Op::ReduceMax ? extremes<W>(e.dtype).lowest : extremes<W>(e.dtype).highest;
  }

  const LoopNest& nest_;
  const KernelCall& call_;
  Point at_;
  std::vector<std::optional<Scalar>> values_;
  std::vector<std::optional<Scalar>> folded_;  // reductions of this point of the parallel axes
};

}  // namespace

void interpret(const LoopNest& nest, const KernelCall& call) { Interpreter(nest, call).run(); }

}  // namespace ingot::kernel
