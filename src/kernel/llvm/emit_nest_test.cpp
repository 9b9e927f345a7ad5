// Random nests, compiled for every level this machine runs, do what the interpreter does.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/numeric.h"
#include "kernel/can_emit.h"
#include "kernel/interpret.h"
#include "support/compiled_nest.h"
#include "support/nest_builder.h"

namespace ingot::kernel {
namespace {

constexpr int64_t kGuard = 64;  // bytes around every buffer that no kernel may touch

// Memory of every access, the same at every construction.
class Buffers {
 public:
  Buffers(const LoopNest& nest, const std::vector<int64_t>& sizes, uint32_t seed) : sizes_(sizes) {
    std::mt19937 random(seed);
    for (const Access& access : nest.accesses) fill(nest, access, random);
    for (auto& buffer : buffers_) pointers_.push_back(buffer.bytes.data() + buffer.first);
  }

  KernelCall call(int64_t begin, int64_t end) const {
    return {.memory = pointers_.data(), .sizes = sizes_.data(), .begin = begin, .end = end};
  }

  // Compares all bytes but those of floats, which may differ by their rounding; gives the first difference.
  std::string difference(const Buffers& expected, const LoopNest& nest, double tolerance) const {
    for (size_t a = 0; a < buffers_.size(); ++a) {
      const auto& got = buffers_[a].bytes;
      const auto& want = expected.buffers_[a].bytes;
      if (got == want) continue;
      const DType dtype = nest.accesses[a].dtype;
      const auto width = static_cast<size_t>(bit_width(dtype) / 8);
      for (size_t at = 0; at + width <= got.size(); at += width) {
        if (std::equal(got.data() + at, got.data() + at + width, want.data() + at)) continue;
        double x = 0, y = 0;
        decode_to_f64(dtype, got.data() + at, 1, &x);
        decode_to_f64(dtype, want.data() + at, 1, &y);
        if (std::isnan(x) && std::isnan(y)) continue;
        const double unit = dtype == DType::bf16 ? 0x1p-7 : dtype == DType::f16 ? 0x1p-10 : 0;
        if (is_floating(dtype) && std::fabs(x - y) <= (tolerance + unit) * std::max(1.0, std::fabs(y)))
          continue;
        if (x == y && is_floating(dtype)) continue;
        return fmt::format("access {}, byte {} of {}: {} instead of {}", a, at, got.size(), x, y);
      }
    }
    return "";
  }

 private:
  struct Buffer {
    std::vector<std::byte> bytes;
    int64_t first;  // of the element at the origin
  };

  int64_t number(const Size& size) const {
    return size.param < 0 ? size.value : sizes_[static_cast<size_t>(size.param)];
  }

  void fill(const LoopNest& nest, const Access& access, std::mt19937& random) {
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < nest.axes.size(); ++i) {
      const int64_t last = (number(nest.axes[i].extent) - 1) * number(access.strides[i]);
      low += std::min<int64_t>(0, last), high += std::max<int64_t>(0, last);
    }
    const int64_t width = bit_width(access.dtype) / 8, count = high - low + 1;
    Buffer buffer{std::vector<std::byte>(static_cast<size_t>(count * width + 2 * kGuard)),
                  kGuard - low * width};
    std::uniform_real_distribution<double> reals(-4, 4);
    for (int64_t i = 0; i < count; ++i) {
      double value = reals(random);
      if (!is_floating(access.dtype)) value = std::trunc(value * (access.dtype == DType::boolean ? 0.4 : 10));
      if (is_unsigned_integer(access.dtype)) value = std::fabs(value);
      encode_from_f64(access.dtype, &value, 1, buffer.bytes.data() + kGuard + i * width);
    }
    buffers_.push_back(std::move(buffer));
  }

  std::vector<int64_t> sizes_;
  std::vector<Buffer> buffers_;
  std::vector<std::byte*> pointers_;
};

// Points of the parallel space that a call divides.
int64_t parallel_points(const LoopNest& nest, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> extents;
  for (const Axis& axis : nest.axes)
    if (!axis.reduced)
      extents.push_back(axis.extent.param < 0 ? axis.extent.value
                                              : sizes[static_cast<size_t>(axis.extent.param)]);
  if (extents.size() > 1) extents.pop_back();
  int64_t points = 1;
  for (int64_t n : extents) points *= n;
  return points;
}

void expect_as_interpreted(const LoopNest& nest, const std::vector<int64_t>& sizes, uint32_t seed,
                           double tolerance) {
  verify(nest);
  const int64_t points = parallel_points(nest, sizes);
  const int64_t cut = points / 3;
  Buffers expected(nest, sizes, seed);
  interpret(nest, expected.call(0, points));
  for (IsaLevel level : runnable_levels()) {
    if (level > IsaLevel::avx512) break;  // no other code beyond
    CompiledNest compiled(nest, level);
    Buffers got(nest, sizes, seed);
    compiled(got.call(0, cut));
    compiled(got.call(cut, points));
    EXPECT_EQ(got.difference(expected, nest, tolerance), "") << to_string(level) << "\n" << to_string(nest);
  }
}

// Makes nests whose values are well conditioned, so that any order of summation gives nearly the same.
class NestGenerator {
 public:
  explicit NestGenerator(uint32_t seed) : random_(seed) {}

  LoopNest make() {
    std::vector<int64_t> parallel, reduced;
    for (int i = pick(1, 3); i > 0; --i) parallel.push_back(extent());
    for (int i = pick(-1, 2); i > 0; --i) reduced.push_back(extent());
    if (reduced.size() > 0 && pick(0, 9) == 0) parallel.clear();
    NestBuilder n(parallel, reduced);
    if (!reduced.empty() && !parallel.empty() && pick(0, 1) == 0)
      n.nest.vector_axis = static_cast<int32_t>(parallel.size()) - 1;
    parallel_ = parallel.size();
    for (auto& axis : n.nest.axes) make_runtime(axis.extent);
    for (int i = pick(1, 3); i > 0; --i) values_.push_back(load(n));
    grow(n);
    if (!reduced.empty()) fold(n), grow(n);
    if (!reduced.empty() && pick(0, 1) == 0) fold(n), grow(n);
    store(n, values_.back());
    if (pick(0, 2) == 0)
      store(n, values_[static_cast<size_t>(pick(0, static_cast<int>(values_.size()) - 1))]);
    return n.nest;
  }

  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  int64_t extent() {
    static constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 64, 70};
    const int64_t n = std::min(kExtents[pick(0, std::size(kExtents) - 1)], room_);
    room_ /= n;
    return n;
  }

  void make_runtime(Size& size) {
    if (pick(0, 2) != 0) return;
    sizes_.push_back(size.value);
    size = Size::given(static_cast<int32_t>(sizes_.size()) - 1);
  }

  int64_t value_of(const Size& size) const {
    return size.param < 0 ? size.value : sizes_[static_cast<size_t>(size.param)];
  }

  // Dense along the axes in some order; a few are broadcast, padded or backwards.
  std::vector<int64_t> strides(const NestBuilder& n, const std::vector<bool>& present, bool exotic) {
    std::vector<int64_t> result(n.nest.axes.size());
    std::vector<size_t> order;
    for (size_t i = 0; i < result.size(); ++i)
      if (present[i]) order.push_back(i);
    if (exotic && pick(0, 3) == 0) std::ranges::shuffle(order, random_);
    int64_t step = exotic && pick(0, 5) == 0 ? 2 : 1;
    for (size_t k = order.size(); k-- > 0;) {
      result[order[k]] = step;
      step *= value_of(n.nest.axes[order[k]].extent) + (exotic && pick(0, 3) == 0 ? 3 : 0);
      if (exotic && pick(0, 7) == 0) result[order[k]] *= -1;
    }
    return result;
  }

  int32_t load(NestBuilder& n) {
    static constexpr DType kTypes[] = {DType::f32,  DType::f32, DType::f32,    DType::f16,
                                       DType::bf16, DType::i8,  DType::u8,     DType::i32,
                                       DType::i64,  DType::f64, DType::boolean};
    std::vector<bool> present;
    for (size_t i = 0; i < n.nest.axes.size(); ++i) present.push_back(pick(0, 3) != 0);
    const auto value = n.load(kTypes[pick(0, std::size(kTypes) - 1)], strides(n, present, true));
    for (auto& stride : n.nest.accesses.back().strides)
      if (stride.value != 0) make_runtime_stride(stride);
    return n.type(value) == DType::f32 ? value : n.op(Op::Cast, {value}, DType::f32);
  }

  void make_runtime_stride(Size& stride) {
    if (pick(0, 5) == 0) make_runtime(stride);
  }

  int32_t any(NestBuilder&) {
    return values_[static_cast<size_t>(pick(0, static_cast<int>(values_.size()) - 1))];
  }

  // Functions that neither blow up errors nor numbers.
  void grow(NestBuilder& n) {
    static constexpr Op kUnary[] = {Op::Tanh, Op::Abs, Op::Sigmoid, Op::Relu, Op::Sin, Op::Gelu, Op::Erf};
    static constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Max, Op::Min};
    for (int i = pick(0, 3); i > 0; --i) {
      const int kind = pick(0, 2);
      if (kind == 0) {
        values_.push_back(n.op(kUnary[pick(0, std::size(kUnary) - 1)], {any(n)}));
      } else if (kind == 1) {
        values_.push_back(n.op(kBinary[pick(0, std::size(kBinary) - 1)], {any(n), any(n)}));
      } else {
        const auto index = n.index(pick(0, static_cast<int>(n.nest.axes.size()) - 1));
        const auto near = n.op(Op::Less, {index, n.integer(pick(0, 20))}, DType::boolean);
        values_.push_back(n.op(Op::Select, {near, any(n), n.real(0.5)}, DType::f32));
      }
    }
  }

  // Sums are of what lies in [0, 1], scaled back.
  void fold(NestBuilder& n) {
    static constexpr Op kFolds[] = {Op::ReduceSum, Op::ReduceMax, Op::ReduceMin};
    const Op op = kFolds[pick(0, 2)];
    const auto x = op == Op::ReduceSum ? n.op(Op::Sigmoid, {any(n)}) : any(n);
    const auto folded = n.reduce(op, x);
    values_.push_back(op == Op::ReduceSum ? n.op(Op::Mul, {folded, n.real(0.01)}) : folded);
    if (pick(0, 1) == 0) values_.push_back(n.op(Op::Sub, {any(n), values_.back()}));
  }

  void store(NestBuilder& n, int32_t value) {
    static constexpr DType kTypes[] = {DType::f32, DType::f32, DType::f16, DType::bf16};
    std::vector<bool> present(n.nest.axes.size(), true);
    bool is_row = pick(0, 1) == 0;
    for (size_t i = parallel_; i < present.size(); ++i)
      is_row |= varies(n.nest, value, static_cast<int32_t>(i));
    for (size_t i = parallel_; i < present.size(); ++i) present[i] = is_row;
    n.store(kTypes[pick(0, 3)], strides(n, present, pick(0, 3) == 0), value);
  }

  std::mt19937 random_;
  std::vector<int64_t> sizes_ = {0};  // never empty
  std::vector<int32_t> values_;       // of f32
  size_t parallel_ = 0;
  int64_t room_ = 5000;  // points of all axes together
};

TEST(EmitNest, RandomNestsDoWhatTheInterpreterDoes) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    NestGenerator generator(seed);
    const LoopNest nest = generator.make();
    SCOPED_TRACE(seed);
    expect_as_interpreted(nest, generator.sizes(), seed, 4e-6);
    if (HasFailure()) return;
  }
}

// An operand or a result that lies across the vectors, of every width, cut within and at the edges of tiles.
TEST(EmitNest, TransposedAccesses) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i64, DType::f64, DType::boolean})
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{37, 41}, {32, 48}, {3, 70}, {70, 3}}) {
      NestBuilder n({3, rows, columns}, {});
      const int64_t count = rows * columns;
      const auto across = n.load(dtype, {count, 1, rows}), along = n.load(dtype, {count, columns, 1});
      const bool is_logical = dtype == DType::boolean;
      const auto both = n.op(is_logical ? Op::LogicalXor : Op::Add, {across, along});
      n.store(dtype, {count, columns, 1}, both);
      n.store(dtype, {count, 1, rows}, along);
      expect_as_interpreted(n.nest, {0}, 1, 1e-6);
    }
}

}  // namespace
}  // namespace ingot::kernel
