#include "kernel/source_hash.h"

#include <bit>

namespace ingot::kernel {
namespace {

// Mixes 64 bits at a time (the finaliser of SplitMix64).
class Hash {
 public:
  template <class T>
  void add(T value) {
    uint64_t bits = 0;
    if constexpr (std::is_same_v<T, double>)
      bits = std::bit_cast<uint64_t>(value);
    else
      bits = static_cast<uint64_t>(value);
    state_ += bits + 0x9e3779b97f4a7c15;
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111eb;
    state_ ^= state_ >> 31;
  }
  void add(const Size& size) {
    add(size.value);
    add(size.param);
  }
  void add(const Access& access) {
    add(access.dtype);
    add_all(access.strides);
  }
  void add(const Axis& axis) {
    add(axis.extent);
    add(axis.reduced);
  }
  void add(const Expr& expr) {
    add(expr.kind);
    add(expr.op);
    add(expr.dtype);
    add_all(expr.args);
    add(expr.source);
    add(expr.real);
    add(expr.real2);
    add(expr.integer);
  }
  void add(const Store& store) {
    add(store.access);
    add(store.expr);
  }
  void add(const LoopNest& nest) {
    add_all(nest.axes);
    add_all(nest.accesses);
    add_all(nest.exprs);
    add_all(nest.stores);
    add(nest.vector_axis);
  }
  void add(const TileKernel& tile) {
    add(tile.kind);
    add(tile.a);
    add(tile.b);
    add(tile.rows);
    add(tile.vectors);
    add(tile.packed);
    add(tile.epilogue);
    for (const int32_t number : {tile.window.taps, tile.window.step, tile.window.dilation}) add(number);
  }
  uint64_t result() const { return state_; }

 private:
  template <class T>
  void add_all(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }

  uint64_t state_ = 0;
};

}  // namespace

uint64_t hash_of(const KernelSource& source) {
  Hash hash;
  hash.add(source.index());
  std::visit([&](const auto& kernel) { hash.add(kernel); }, source);
  return hash.result();
}

}  // namespace ingot::kernel
