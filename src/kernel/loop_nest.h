#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingot/dtype.h"
#include "ingot/ops.h"

// The loop form of a fused group: what both emitters read and what a kernel is cached under.
//
// A nest computes, for every point of its parallel axes, an expression per stored access; reductions fold the
// reduced axes. Memory is reached through accesses alone: element (i0, i1, ...) lies at sum(i * stride). So
// broadcasts, transposes, slices and concatenations cost nothing but a stride. No access of a nest overlaps
// one that it stores, but for equal ones (in place).
namespace ingot::kernel {

// A number known when the kernel is made, or given at each call as KernelCall::sizes[param].
struct Size {
  int64_t value = 0;  // where param < 0
  int32_t param = -1;

  static Size of(int64_t value) { return {value, -1}; }
  static Size given(int32_t param) { return {0, param}; }
  bool is(int64_t v) const { return param < 0 && value == v; }
  friend bool operator==(const Size&, const Size&) = default;
};

struct Axis {
  Size extent;
  bool reduced = false;  // reduced axes come after all parallel ones
  friend bool operator==(const Axis&, const Axis&) = default;
};

struct Access {
  DType dtype = DType::f32;
  std::vector<Size> strides = {};  // in elements, one per axis; constant 0 where the axis is broadcast
  friend bool operator==(const Access&, const Access&) = default;
};

enum class ExprKind : uint8_t {
  load,         // accesses[source]
  constant,     // `real`, or `integer` where dtype is an integer or boolean
  index,        // position along axis `source`, i64
  op,           // a pointwise `op` of args
  reduce,       // args[0] folded over all reduced axes by `op`: ReduceSum, ReduceProd, ReduceMax or ReduceMin
  accumulator,  // what the tile has summed for its point: f32, or i32 for integer products
  fma,          // args[0] * args[1] + args[2] of f32, rounded once
};

// One value per point of the axes it varies over. Arithmetic on f16 and bf16 happens in f32: no expression
// but a load has one of these types, and a load converts; a store converts back. Integer arithmetic wraps.
struct Expr {
  ExprKind kind = ExprKind::constant;
  Op op = Op::Input;
  DType dtype = DType::f32;        // of the result
  std::vector<int32_t> args = {};  // earlier expressions
  int32_t source = 0;
  double real = 0;      // constants; the attribute alpha of an op
  double real2 = 0;     // the attribute beta
  int64_t integer = 0;  // constants; flags of an op: cast saturate (1), mod truncate (1), gelu tanh form (1),
                        // is_inf negative (1) and positive (2)
  friend bool operator==(const Expr&, const Expr&) = default;
};

struct Store {
  int32_t access = 0;
  int32_t expr = 0;
  friend bool operator==(const Store&, const Store&) = default;
};

struct LoopNest {
  std::vector<Axis> axes;
  std::vector<Access> accesses;
  std::vector<Expr> exprs;    // each reads earlier ones
  std::vector<Store> stores;  // a stored reduction has stride 0 along reduced axes
  int32_t vector_axis = 0;    // along which lanes lie; the innermost axis of its kind (parallel or reduced)
  friend bool operator==(const LoopNest&, const LoopNest&) = default;
};

// How the window of a tile is combined.
enum class TileKind : uint8_t {
  dot,        // acc(r, c) += a(r, tap, k) * b(tap, k, c)
  depthwise,  // acc(r, c) += a(r, tap, c) * b(tap, c)
  max,        // acc(r, c) = max over taps of a(r, tap, c); NaN wins
  sum,        // acc(r, c) += a(r, tap, c)
};

// Rows of a tile that are neighbours along one axis of a window share what their windows read: so many taps
// along it are combined at once, of which the last lies (taps - 1) * dilation behind the first. Without taps,
// every row is found by itself.
struct TileWindow {
  int32_t taps = 0;
  int32_t step = 1;  // input positions from one row to the next
  int32_t dilation = 1;
  friend bool operator==(const TileWindow&, const TileWindow&) = default;
};

// The inner part of matrix products, convolutions and pooling: `rows` x `vectors` * lanes accumulators in
// registers, and an epilogue over the two axes {row, column}, whose accesses have stride 1 or 0 along columns
// and, along rows, 0 or any other constant: rows are found through TileCall::rows.
struct TileKernel {
  TileKind kind = TileKind::dot;
  DType a = DType::f32;  // f32, or u8 (a dot at level amx: i8 too) with b i8 for sums in i32
  DType b = DType::f32;  // f32, f16, bf16 (widened), i8
  int32_t rows = 1;
  int32_t vectors = 1;
  bool packed = true;  // b has the stride of packed panels; otherwise TileCall::b_stride
  LoopNest epilogue;
  TileWindow window = {};  // all kinds but dot, of f32
  friend bool operator==(const TileKernel&, const TileKernel&) = default;
};

// One call of a kernel made from a LoopNest. The kernel computes the points [begin, end) of its first axis
// when it has one parallel axis, otherwise of the row-major space of all parallel axes but the last.
struct KernelCall {
  std::byte* const* memory = nullptr;  // one per access, at point (0, 0, ...)
  const int64_t* sizes = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
  std::byte* scratch = nullptr;  // scratch_bytes() of this thread, 64-byte aligned; null where that is 0
};
using KernelFunction = void (*)(const KernelCall*);

// Where a tap reads: bytes added to every row of a, and to b.
struct TileTap {
  int64_t a = 0;
  int64_t b = 0;
  int64_t number = 0;  // of its bit in TileCall::inside
};

// A tile with a TileWindow. Positions count input along the axis of the window, from that which the first
// tap of the first row reads.
struct WindowTile {
  const std::byte* a = nullptr;   // position 0, perhaps outside the input
  int64_t low = 0, high = 0;      // positions of the input
  const TileTap* taps = nullptr;  // the first of each row of taps
  int64_t tap_count = 0;
};

inline constexpr int64_t kTileTurn = 4;         // steps of the depth in a turn of its loop
inline constexpr int64_t kMostTileFetches = 6;  // lines of TileCall::next_b that a turn can fetch

// One call of a tile: the same columns of b for one block of rows after another.
struct TileCall {
  int64_t tiles = 1;
  const std::byte* const* a_rows = nullptr;  // [tile][row]
  const uint64_t* inside = nullptr;  // [tap / 64][tile][row]: bits of taps that read a; null: all of them do
  int64_t inside_step = 0;           // words from one 64 taps to the next
  const std::byte* padding = nullptr;  // what the others read
  const TileTap* taps = nullptr;
  int64_t tap_count = 1;
  int64_t depth = 0;             // dot: products per tap (u8: a multiple of 4)
  const std::byte* b = nullptr;  // see docs/kernels.md for the packed forms
  int64_t b_stride = 0;          // not packed: bytes from one k of b to the next
  const std::byte* next_b =
      nullptr;            // fetched into the second-level cache meanwhile; may equal b, never null
  int64_t next_step = 0;  // how far next_b moves in kTileTurn steps of the depth: so many cache lines, or 0
  // [access][tile][row]: the element at column 0. Of accesses that do not vary along rows, the first alone.
  std::byte* const* memory = nullptr;
  int64_t memory_step = 0;  // pointers from one access to the next
  const int64_t* sizes = nullptr;
  int64_t column = 0;   // first column of the tile: of accesses that vary along columns, of a but for dot
  int64_t columns = 0;  // valid columns, 1 ... vectors * lanes; others are neither read nor stored, but for b
  float* partial = nullptr;  // [tile][row][column]: sums carried between blocks of depth
  int32_t first = 1;         // start from zero rather than from `partial`
  int32_t last = 1;          // run the epilogue rather than store to `partial`
  // With a TileWindow, instead of a_rows, inside and taps; `memory` is then [access][tile], of first rows.
  const WindowTile* windows = nullptr;
  int64_t a_step = 0;                   // bytes between positions
  const int64_t* memory_row = nullptr;  // by access: bytes from one row to the next
};
using TileFunction = void (*)(const TileCall*);

// Sums that a dot tile keeps beside each other per element, enough to hide the latency of a multiply-add in
// small tiles, and adds up at the end: tiles with as many round alike.
int sums_per_element(int rows, int vectors);

// The type that elements of a type in memory have in expressions: f32 for f16 and bf16, else the type itself.
DType arithmetic_type(DType dtype);

// The canonical text: equal texts are equal kernels. One line per axis, access, expression and store.
std::string to_string(const LoopNest& nest);
std::string to_string(const TileKernel& tile);

// Throws Error(internal) naming what is wrong: counts, order of expressions, types, axes.
void verify(const LoopNest& nest);
void verify(const TileKernel& tile);

// Whether an expression varies over an axis; of all expressions.
bool varies(const LoopNest& nest, int32_t expr, int32_t axis);
std::vector<bool> varying(const LoopNest& nest, int32_t axis);

// Memory that a call needs per thread, for these sizes.
int64_t scratch_bytes(const LoopNest& nest, const int64_t* sizes);

}  // namespace ingot::kernel
