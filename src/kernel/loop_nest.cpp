#include "kernel/loop_nest.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/op_info.h"

namespace ingot::kernel {
namespace {

std::string text_of(const Size& size) {
  return size.param < 0 ? fmt::format("{}", size.value) : fmt::format("n{}", size.param);
}

std::string text_of(const std::vector<Size>& sizes) {
  std::string out;
  for (const Size& size : sizes) out += " " + text_of(size);
  return out;
}

// Numbers that change what an op does; absent where they are all zero.
std::string attributes_of(const Expr& e) {
  std::string out;
  if (e.real != 0 || e.real2 != 0) out += fmt::format(" {:a} {:a}", e.real, e.real2);
  if (e.integer != 0) out += fmt::format(" {}", e.integer);
  return out;
}

std::string call_text(std::string_view name, const Expr& e) {
  return fmt::format("{}({}){}", name, fmt::join(e.args, ", "), attributes_of(e));
}

std::string text_of(const Expr& e) {
  switch (e.kind) {
    case ExprKind::load: return fmt::format("load {}", e.source);
    case ExprKind::constant:
      return is_floating(e.dtype) ? fmt::format("constant {:a}", e.real)
                                  : fmt::format("constant {}", e.integer);
    case ExprKind::index: return fmt::format("index {}", e.source);
    case ExprKind::op: return call_text(to_string(e.op), e);
    case ExprKind::reduce: return call_text(fmt::format("reduce {}", to_string(e.op)), e);
    case ExprKind::accumulator: return "accumulator";
    case ExprKind::fma: return call_text("fma", e);
  }
  return "unknown";
}

std::string_view to_string(TileKind kind) {
  switch (kind) {
    case TileKind::dot: return "dot";
    case TileKind::depthwise: return "depthwise";
    case TileKind::max: return "max";
    case TileKind::sum: return "sum";
  }
  return "unknown";
}

}  // namespace

int sums_per_element(int rows, int vectors) {
  constexpr int kInFlight = 8;
  const int accumulators = rows * vectors;
  return accumulators >= kInFlight ? 1 : accumulators * 2 >= kInFlight ? 2 : 4;
}

DType arithmetic_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

std::string to_string(const LoopNest& nest) {
  std::string out = fmt::format("nest, vectors along {}\n", nest.vector_axis);
  for (const Axis& axis : nest.axes)
    out += fmt::format("axis {}{}\n", text_of(axis.extent), axis.reduced ? " reduced" : "");
  for (const Access& access : nest.accesses)
    out += fmt::format("access {}{}\n", ingot::to_string(access.dtype), text_of(access.strides));
  for (size_t i = 0; i < nest.exprs.size(); ++i)
    out += fmt::format("{} = {} {}\n", i, ingot::to_string(nest.exprs[i].dtype), text_of(nest.exprs[i]));
  for (const Store& store : nest.stores) out += fmt::format("store {} to {}\n", store.expr, store.access);
  return out;
}

namespace {

std::string text_of(const TileWindow& window) {
  if (window.taps == 0) return "";
  return fmt::format("window of {} taps, step {}, dilation {}\n", window.taps, window.step, window.dilation);
}

}  // namespace

std::string to_string(const TileKernel& tile) {
  return fmt::format("tile {} {} {} {}, {} rows, {} vectors\n", to_string(tile.kind),
                     ingot::to_string(tile.a), tile.packed ? "packed" : "plain", ingot::to_string(tile.b),
                     tile.rows, tile.vectors) +
         text_of(tile.window) + to_string(tile.epilogue);
}

std::vector<bool> varying(const LoopNest& nest, int32_t axis) {
  const auto a = static_cast<size_t>(axis);
  std::vector<bool> result;
  for (const Expr& e : nest.exprs) {
    bool here = std::ranges::any_of(e.args, [&](int32_t arg) { return result.at(static_cast<size_t>(arg)); });
    if (e.kind == ExprKind::load) here = !nest.accesses.at(static_cast<size_t>(e.source)).strides.at(a).is(0);
    if (e.kind == ExprKind::index) here = e.source == axis;
    if (e.kind == ExprKind::accumulator) here = true;
    if (e.kind == ExprKind::reduce && nest.axes.at(a).reduced) here = false;
    result.push_back(here);
  }
  return result;
}

bool varies(const LoopNest& nest, int32_t expr, int32_t axis) {
  return varying(nest, axis).at(static_cast<size_t>(expr));
}

}  // namespace ingot::kernel
