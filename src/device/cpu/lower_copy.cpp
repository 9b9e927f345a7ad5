#include "base/thread_pool.h"
#include "device/cpu/copy.h"
#include "device/cpu/nest_step.h"
#include "device/cpu/nest_types.h"
#include "device/cpu/plan_builder.h"

namespace ingot::cpu {
namespace {

class CopyStep : public Step {
 public:
  CopyStep(Place from, Place to) : from_(from), to_(to) {
    cost.bytes = 2.0 * static_cast<double>(to.view.count()) * bit_width(to.view.dtype) / 8;
  }
  void run(const Frame& frame) const override { copy(frame.view(from_), frame.view(to_), frame.pool); }
  std::string describe() const override { return fmt::format("copy {} elements", to_.view.count()); }
  std::vector<int32_t> reads_in_place() const override {
    return from_.lies_like(to_) ? reads : std::vector<int32_t>();
  }

 private:
  Place from_;
  Place to_;
};

// As dense tensors of elements that views do not know.
class CopyBytesStep : public Step {
 public:
  CopyBytesStep(Place from, Place to, int64_t bytes) : from_(from), to_(to), bytes_(bytes) {}
  void run(const Frame& frame) const override {
    std::copy_n(frame.at(from_.buffer, from_.offset), bytes_, frame.at(to_.buffer, to_.offset));
  }
  std::string describe() const override { return fmt::format("copy {} bytes", bytes_); }

 private:
  Place from_;
  Place to_;
  int64_t bytes_;
};

// One conversion for each element, as a nest over all axes.
std::unique_ptr<Step> conversion(PlanBuilder& builder, const Place& from, const Place& to,
                                 int64_t shift = 0) {
  kernel::LoopNest nest;
  std::vector<int64_t> sizes;
  auto given = [&](int64_t n) {
    if (n == 0 || n == 1) return kernel::Size::of(n);
    sizes.push_back(n);
    return kernel::Size::given(static_cast<int32_t>(sizes.size()) - 1);
  };
  kernel::Access load{.dtype = from.view.dtype, .strides = {}}, store{.dtype = to.view.dtype, .strides = {}};
  for (int axis : axis_order(to.view)) {
    const auto a = static_cast<size_t>(axis);
    sizes.push_back(to.view.sizes[a]);
    nest.axes.push_back({kernel::Size::given(static_cast<int32_t>(sizes.size()) - 1), false});
    load.strides.push_back(given(from.view.strides[a]));
    store.strides.push_back(given(to.view.strides[a]));
  }
  nest.accesses = {load, store};
  nest.exprs = {{.kind = kernel::ExprKind::load, .dtype = *compute_type(from.view.dtype), .args = {}},
                {.kind = kernel::ExprKind::op,
                 .op = Op::Cast,
                 .dtype = *compute_type(to.view.dtype),
                 .args = {0},
                 .integer = 1}};
  nest.stores = {{1, 1}};
  if (shift != 0) {
    nest.exprs[1] = {.kind = kernel::ExprKind::op, .op = Op::Cast, .dtype = DType::i32, .args = {0}};
    nest.exprs.push_back({.kind = kernel::ExprKind::constant, .dtype = DType::i32, .integer = shift});
    nest.exprs.push_back({.kind = kernel::ExprKind::op, .op = Op::Add, .dtype = DType::i32, .args = {1, 2}});
    nest.exprs.push_back({.kind = kernel::ExprKind::op, .op = Op::Cast, .dtype = to.view.dtype, .args = {3}});
    nest.stores = {{1, 4}};
  }
  nest.vector_axis = static_cast<int32_t>(nest.axes.size()) - 1;
  return std::make_unique<NestStep>(builder.workshop().kernels, nest, sizes, std::vector<Place>{from}, to);
}

int64_t common_bytes(const Plan& plan, const Place& from, const Place& to) {
  auto left = [&](const Place& p) { return plan.buffers[static_cast<size_t>(p.buffer)].bytes - p.offset; };
  return std::min(left(from), left(to));
}

}  // namespace

void add_shifted_copy(PlanBuilder& builder, const Node& node, const Place& from, const Place& to,
                      int64_t shift) {
  builder.add_step(conversion(builder, from, to, shift), node, std::span(&from, 1), std::span(&to, 1));
}

void add_copy(PlanBuilder& builder, const Node& node, const Place& from, const Place& to) {
  const bool views = from.view.rank == to.view.rank && !is_sub_byte(from.view.dtype);
  std::unique_ptr<Step> step;
  if (!views || (from.view.rank == 0 && from.view.dtype == to.view.dtype))
    step = std::make_unique<CopyBytesStep>(from, to, common_bytes(builder.plan(), from, to));
  else if (from.view.dtype == to.view.dtype)
    step = std::make_unique<CopyStep>(from, to);
  else
    step = conversion(builder, from, to);
  builder.add_step(std::move(step), node, std::span(&from, 1), std::span(&to, 1));
}

}  // namespace ingot::cpu
