#include "kernel/cuda/emit_cuda.h"

#include <set>

#include "ir/arithmetic.h"
#include "kernel/cuda/cuda_op.h"
#include "kernel/schedule.h"

namespace ingot::kernel {
namespace {

size_t index_of(int32_t i) { return static_cast<size_t>(i); }

std::string number(const Size& size) {
  return size.param < 0 ? fmt::format("{}ll", size.value) : fmt::format("call.sizes[{}]", size.param);
}

class CudaEmitter {
 public:
  explicit CudaEmitter(const LoopNest& nest) : nest_(nest), walks_(plan_walks(nest)) {}

  std::string run() {
    verify(nest_);
    text_ = kCudaPrelude;
    line("struct Call {{ char* memory[{}]; i64 sizes[{}]; i64 begin, end; }};", nest_.accesses.size(),
         std::max<size_t>(1, size_count()));
    line("extern \"C\" __global__ void __launch_bounds__({}) entry(const __grid_constant__ Call call) {{",
         kCudaThreads);
    for (size_t a = 0; a < nest_.axes.size(); ++a)
      line("const i64 n{} = {};", a, number(nest_.axes[a].extent));
    nest_.axes.back().reduced ? rows() : points();
    line("}}");
    return std::move(text_);
  }

 private:
  using Known = std::set<int32_t>;  // values that have a name at this place: v<number>

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  size_t size_count() const {
    int32_t highest = -1;
    for (const Axis& axis : nest_.axes) highest = std::max(highest, axis.extent.param);
    for (const Access& access : nest_.accesses)
      for (const Size& stride : access.strides) highest = std::max(highest, stride.param);
    return index_of(highest + 1);
  }

  // --- loops

  std::vector<size_t> axes(bool reduced) const {
    std::vector<size_t> result;
    for (size_t a = 0; a < nest_.axes.size(); ++a)
      if (nest_.axes[a].reduced == reduced) result.push_back(a);
    return result;
  }

  // `for` over [first, end) with indexes i<axis of some axes in row-major order.
  void open_loop(const std::string& name, const std::string& first, const std::string& end,
                 const std::string& step, const std::vector<size_t>& over) {
    line("for (i64 {0} = {1}; {0} < {2}; {0} += {3}) {{", name, first, end, step);
    if (over.empty()) return;
    line("i64 {0}_rest = {0};", name);
    for (size_t k = over.size() - 1; k > 0; --k)
      line("const i64 i{0} = {1}_rest % n{0}; {1}_rest /= n{0};", over[k], name);
    line("const i64 i{} = {}_rest;", over[0], name);
  }

  // Points of the call: of all parallel axes, where the call counts those but the last.
  void open_points(const std::string& first, const std::string& step) {
    const auto parallel = axes(false);
    const std::string width = parallel.size() > 1 ? fmt::format("n{}", parallel.back()) : "1";
    line("const i64 first = call.begin * {0}, end = call.end * {0};", width);
    open_loop("point", "first + " + first, "end", step, parallel);
  }

  void points() {
    open_points("blockIdx.x * (i64)blockDim.x + threadIdx.x", "gridDim.x * (i64)blockDim.x");
    Known known;
    for (const Store& store : nest_.stores) compute(store.expr, known);
    for (const Store& store : nest_.stores) write(store);
    line("}}");
  }

  void rows() {
    line("__shared__ __align__(8) char shared[{} * 8];", kCudaThreads);
    open_points("blockIdx.x", "gridDim.x");
    Known known;
    for (int32_t w = 0; w < walks_.count; ++w) walk(w, known);
    for (size_t s = 0; s < nest_.stores.size(); ++s)
      if (!walks_.stored[s]) compute(nest_.stores[s].expr, known);
    line("if (threadIdx.x == 0) {{");
    for (size_t s = 0; s < nest_.stores.size(); ++s)
      if (!walks_.stored[s]) write(nest_.stores[s]);
    line("}}\n}}");
  }

  // All threads go over the reduced axes together, then fold what each has.
  void walk(int32_t number, Known& known) {
    std::vector<int32_t> folds;
    std::vector<Store> stores;
    for (size_t i = 0; i < nest_.exprs.size(); ++i)
      if (nest_.exprs[i].kind == ExprKind::reduce && walks_.needed[i] && walks_.walk[i] == number)
        folds.push_back(static_cast<int32_t>(i));
    for (size_t s = 0; s < nest_.stores.size() && number + 1 == walks_.count; ++s)
      if (walks_.stored[s]) stores.push_back(nest_.stores[s]);
    for (int32_t f : folds) {
      const Expr& e = nest_.exprs[index_of(f)];
      compute_outside(e.args[0], known);
      line("{} sum{} = {};", cuda_type(e.dtype), f, identity(e));
    }
    for (const Store& store : stores) compute_outside(store.expr, known);
    open_reduced();
    Known inside = known;
    for (int32_t f : folds) {
      const Expr& e = nest_.exprs[index_of(f)];
      compute(e.args[0], inside);
      line("sum{0} = fold<{1}>(sum{0}, v{2});", f, fold_kind(e.op), e.args[0]);
    }
    for (const Store& store : stores) compute(store.expr, inside);
    for (const Store& store : stores) write(store);
    line("}}");
    for (int32_t f : folds) {
      const Expr& e = nest_.exprs[index_of(f)];
      line("const {0} v{1} = fold_block<{2}>(sum{1}, shared);", cuda_type(e.dtype), f, fold_kind(e.op));
      known.insert(f);
    }
  }

  void open_reduced() {
    const auto reduced = axes(true);
    std::string count = "1";
    for (size_t a : reduced) count += fmt::format(" * n{}", a);
    open_loop("reduced", "threadIdx.x", count, "blockDim.x", reduced);
  }

  static const char* fold_kind(Op op) {
    switch (op) {
      case Op::ReduceSum: return "kSum";
      case Op::ReduceProd: return "kProduct";
      case Op::ReduceMax: return "kLargest";
      default: return "kSmallest";
    }
  }

  static std::string identity(const Expr& e) {
    if (e.op == Op::ReduceSum) return cuda_number(e.dtype, 0, 0);
    if (e.op == Op::ReduceProd) return cuda_number(e.dtype, 1, 1);
    return with_wide(e.dtype, [&](auto zero) {
      const auto ends = extremes<decltype(zero)>(e.dtype);
      const auto end = e.op == Op::ReduceMax ? ends.lowest : ends.highest;
      return cuda_number(e.dtype, static_cast<double>(end),
                         is_floating(e.dtype) ? 0 : static_cast<int64_t>(end));
    });
  }

  // --- values

  void compute(int32_t expr, Known& known) {
    if (!known.insert(expr).second) return;
    const Expr& e = nest_.exprs[index_of(expr)];
    for (int32_t arg : e.args) compute(arg, known);
    line("const {} v{} = {};", cuda_type(e.dtype), expr, value_text(e));
  }

  // The parts that do not vary along reduced axes; reductions among them are known by then.
  void compute_outside(int32_t expr, Known& known) {
    if (!walks_.along[index_of(expr)]) return compute(expr, known);
    for (int32_t arg : nest_.exprs[index_of(expr)].args) compute_outside(arg, known);
  }

  std::string value_text(const Expr& e) const {
    switch (e.kind) {
      case ExprKind::load: return read(e.source);
      case ExprKind::constant: return cuda_number(e.dtype, e.real, e.integer);
      case ExprKind::index: return fmt::format("i{}", e.source);
      default: break;
    }
    std::vector<std::string> args;
    for (int32_t arg : e.args) args.push_back(fmt::format("v{}", arg));
    if (e.kind == ExprKind::fma) return fmt::format("__fmaf_rn({})", fmt::join(args, ", "));
    return cuda_op(e, arithmetic_type(nest_.exprs[index_of(e.args.at(0))].dtype), args);
  }

  // --- memory

  std::string element(int32_t access) const {
    const Access& a = nest_.accesses[index_of(access)];
    std::string position = "0";
    for (size_t axis = 0; axis < a.strides.size(); ++axis)
      if (!a.strides[axis].is(0)) position += fmt::format(" + i{} * {}", axis, number(a.strides[axis]));
    return fmt::format("reinterpret_cast<{}*>(call.memory[{}])[{}]", cuda_memory_type(a.dtype), access,
                       position);
  }

  std::string read(int32_t access) const {
    switch (nest_.accesses[index_of(access)].dtype) {
      case DType::f16: return fmt::format("from_f16({})", element(access));
      case DType::bf16: return fmt::format("from_bf16({})", element(access));
      case DType::boolean: return element(access) + " != 0";
      default: return element(access);
    }
  }

  void write(const Store& store) {
    const DType dtype = nest_.accesses[index_of(store.access)].dtype;
    const char* convert = dtype == DType::f16 ? "to_f16" : dtype == DType::bf16 ? "to_bf16" : "";
    line("{} = {}(v{});", element(store.access), convert, store.expr);
  }

  const LoopNest& nest_;
  Walks walks_;
  std::string text_;
};

}  // namespace

std::string emit_cuda(const LoopNest& nest) { return CudaEmitter(nest).run(); }

}  // namespace ingot::kernel
