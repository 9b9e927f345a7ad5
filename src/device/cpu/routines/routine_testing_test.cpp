#include "device/cpu/routines/routine_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/reference/evaluate.h"

namespace ingot::cpu::testing {

Tensor random(DType dtype, const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  Tensor out = Tensor::allocate(dtype, shape);
  std::vector<double> values(static_cast<size_t>(out.count()));
  for (double& v : values) {
    v = static_cast<double>(generator() % 65536) / 4096 - 8;
    if (dtype == DType::boolean) v = v > 0;
    if (is_unsigned_integer(dtype)) v = std::fabs(v) * 16;
  }
  encode_from_f64(dtype, values.data(), out.count(), out.mutable_bytes().data());
  return out;
}

Tensor ints(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::of({count}, values);
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  ASSERT_EQ(actual.dtype(), expected.dtype());
  if (tolerance == 0 && actual.identical(expected)) return;
  std::vector<double> a(static_cast<size_t>(actual.count())), e = a;
  decode_to_f64(actual.dtype(), actual.bytes().data(), actual.count(), a.data());
  decode_to_f64(expected.dtype(), expected.bytes().data(), expected.count(), e.data());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]))) continue;
    ASSERT_LE(std::fabs(a[i] - e[i]), tolerance * std::max(1.0, std::fabs(e[i])))
        << "element " << i << " is " << a[i] << ", not " << e[i];
  }
}

namespace {

// Operands and outputs of one run in memory of a layout.
class RoutineRun {
 public:
  RoutineRun(const Node& node, const std::vector<Datum>& operands, Layout in, int threads)
      : routine_(find_routine(node.op)), pool_(threads), out_(node.types.size(), kAbsent) {
    for (const Datum& d : operands) {
      if (!d.is_none()) placed_in_.emplace_back(d.tensor(), in);
      in_.push_back(d.is_none() ? kAbsent : placed_in_.back().view());
    }
    call_.emplace(RoutineCall{node, in_, out_, pool_});
  }

  void run(std::span<const Datum> expected, Layout layout, const RunOptions& options) {
    ASSERT_NE(routine_, nullptr);
    placed_out_.reserve(expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const Tensor& t = expected[i].tensor();
      placed_out_.emplace_back(t.dtype(), t.shape(), layout);
      if (static_cast<int>(i) != options.unread) out_[i] = placed_out_[i].view();
    }
    ASSERT_TRUE(routine_->supports(*call_));
    std::vector<std::byte> scratch(64 + (routine_->scratch_bytes ? routine_->scratch_bytes(*call_) : 0));
    call_->scratch = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    if (routine_->measure) measure(expected, options);
    routine_->run(*call_);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (static_cast<int>(i) == options.unread) continue;
      expect_close(placed_out_[i].content(), expected[i].tensor(), options.tolerance);
      EXPECT_TRUE(placed_out_[i].rest_untouched());
    }
  }

 private:
  void measure(std::span<const Datum> expected, const RunOptions& options) {
    for (View& v : out_)
      if (!is_absent(v)) v.sizes.fill(-1);
    routine_->measure(*call_);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (static_cast<int>(i) == options.unread) continue;
      const Shape& wanted = expected[i].tensor().shape();
      ASSERT_EQ(Shape(out_[i].sizes.begin(), out_[i].sizes.begin() + out_[i].rank), wanted);
      out_[i] = placed_out_[i].view();
    }
  }

  const Routine* routine_;
  ThreadPool pool_;
  std::vector<Placed> placed_in_, placed_out_;
  std::vector<View> in_, out_;
  std::optional<RoutineCall> call_;
};

}  // namespace

void expect_results(const Node& node, const std::vector<Datum>& operands, const std::vector<Datum>& expected,
                    Layout in, Layout out, int threads, const RunOptions& options) {
  SCOPED_TRACE(
      fmt::format("layouts {} and {}, {} threads", static_cast<int>(in), static_cast<int>(out), threads));
  RoutineRun(node, operands, in, threads).run(expected, out, options);
}

void expect_like_reference(Attrs attrs, const std::vector<Datum>& operands, const RunOptions& options,
                           size_t outputs) {
  const Node node{attrs.op(), std::vector<Value>(operands.size()), attrs, {}, std::vector<Type>(outputs), ""};
  const std::vector<Datum> expected = reference::evaluate_node(node, operands);
  for (Layout in : kLayouts)
    for (Layout out : kLayouts)
      for (int threads : {1, 3}) {
        if (!options.strided && (in != Layout::dense || out != Layout::dense)) continue;
        expect_results(node, operands, expected, in, out, threads, options);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

}  // namespace ingot::cpu::testing
