#include <algorithm>
#include <numeric>

#include "device/cpu/group_exprs.h"
#include "device/cpu/nest_step.h"
#include "device/cpu/plan_builder.h"

namespace ingot::cpu {
namespace {

struct LoopAxis {
  int64_t extent;
  bool reduced;
};

// A load or the store with a concrete stride per axis of the domain.
struct Reach {
  DType dtype;
  Place place;
  std::vector<int64_t> strides;
};

class NestLowering {
 public:
  NestLowering(PlanBuilder& builder, const Group& group) : builder_(builder), group_(group), exprs_(builder) {
    for (size_t i = 0; i < group.domain.size(); ++i)
      axes_.push_back({group.domain[i], !group.reduced.empty() && group.reduced[i]});
  }

  void run() {
    for (int32_t n : group_.nodes) root_expr_ = exprs_.add_node(n, reduced_count());
    root_expr_ = exprs_.keep_needed(root_expr_);
    for (const GroupLoad& load : exprs_.loads()) add_load(load);
    const Value root{group_.root(), 0};
    const Place out = builder_.allocate(root, output_order());
    builder_.set_place(root, out);
    if (out.view.count() == 0) return;
    add_store(out);
    drop_unit_axes();
    order_axes();
    merge_axes();
    finish(out);
  }

 private:
  int64_t reduced_count() const {
    int64_t count = 1;
    for (const LoopAxis& axis : axes_)
      if (axis.reduced) count *= axis.extent;
    return count;
  }

  void add_load(const GroupLoad& load) {
    Reach reach{load.place.view.dtype, load.place, std::vector<int64_t>(axes_.size(), 0)};
    const size_t lead = axes_.size() - load.shape.size();
    for (size_t i = 0; i < load.shape.size(); ++i)
      if (load.shape[i] != 1) reach.strides[lead + i] = load.place.view.strides[i];
    loads_.push_back(std::move(reach));
  }

  // --- the result
  // As the largest operand lies, so that both are walked in order.
  std::vector<int> output_order() const {
    if (!group_.reduced.empty() && output_rank() != axes_.size()) return {};
    for (const Reach& load : loads_)
      if (static_cast<size_t>(load.place.view.rank) == axes_.size() && is_full(load))
        return axis_order(load.place.view);
    return {};
  }

  size_t output_rank() const { return builder_.node(group_.root()).types[0].dims->size(); }

  bool is_full(const Reach& load) const {
    for (size_t i = 0; i < axes_.size(); ++i)
      if (axes_[i].extent != 1 && load.strides[i] == 0) return false;
    return true;
  }

  void add_store(const Place& out) {
    store_ = {out.view.dtype, out, std::vector<int64_t>(axes_.size(), 0)};
    const bool all = output_rank() == axes_.size();
    size_t from = 0;
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (!all && axes_[i].reduced) continue;
      const size_t axis = from++;
      if (out.view.sizes[axis] != 1) store_.strides[i] = out.view.strides[axis];
    }
  }

  // --- axes
  template <class F>
  void each_reach(F f) {
    for (Reach& load : loads_) f(load);
    f(store_);
  }

  void drop_unit_axes() {
    const bool reduces = std::ranges::any_of(axes_, &LoopAxis::reduced);
    for (size_t i = axes_.size(); i-- > 0;)
      if (axes_[i].extent == 1) erase_axis(i);
    if (std::ranges::all_of(axes_, &LoopAxis::reduced)) insert_unit_axis(0, false);
    if (reduces && std::ranges::none_of(axes_, &LoopAxis::reduced)) insert_unit_axis(axes_.size(), true);
  }

  // A nest has an axis of each kind that it needs, if only of one point.
  void insert_unit_axis(size_t at, bool reduced) {
    const auto offset = static_cast<std::ptrdiff_t>(at);
    axes_.insert(axes_.begin() + offset, LoopAxis{1, reduced});
    each_reach([&](Reach& r) { r.strides.insert(r.strides.begin() + offset, 0); });
  }

  void erase_axis(size_t i) {
    axes_.erase(axes_.begin() + static_cast<int64_t>(i));
    each_reach([&](Reach& r) { r.strides.erase(r.strides.begin() + static_cast<int64_t>(i)); });
  }

  const Reach& main_reach() const {
    for (const Reach& load : loads_)
      if (is_full(load)) return load;
    return store_;
  }

  void order_axes() {
    const Reach parallel_by = group_.reduced.empty() ? store_ : main_reach();
    const Reach reduced_by = main_reach();
    std::vector<size_t> order(axes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      if (axes_[a].reduced != axes_[b].reduced) return axes_[b].reduced;
      const Reach& by = axes_[a].reduced ? reduced_by : parallel_by;
      return std::abs(by.strides[a]) > std::abs(by.strides[b]);
    });
    auto permuted = [&](const auto& list) {
      auto out = list;
      for (size_t i = 0; i < order.size(); ++i) out[i] = list[order[i]];
      return out;
    };
    axes_ = permuted(axes_);
    each_reach([&](Reach& r) { r.strides = permuted(r.strides); });
  }

  // Two neighbours that every access walks as one become one.
  void merge_axes() {
    for (size_t i = axes_.size(); i-- > 1;) {
      if (axes_[i - 1].reduced != axes_[i].reduced) continue;
      bool one = true;
      each_reach([&](const Reach& r) { one = one && r.strides[i - 1] == r.strides[i] * axes_[i].extent; });
      if (!one) continue;
      axes_[i].extent *= axes_[i - 1].extent;
      erase_axis(i - 1);
    }
  }

  size_t parallel_count() const {
    return static_cast<size_t>(std::ranges::count(axes_, false, &LoopAxis::reduced));
  }

  int32_t vector_axis() {
    const size_t parallel = parallel_count();
    if (parallel == axes_.size()) return static_cast<int32_t>(parallel) - 1;
    const Reach& main = main_reach();
    const bool column = main.strides.back() != 1 && main.strides[parallel - 1] == 1;
    return static_cast<int32_t>(column ? parallel - 1 : axes_.size() - 1);
  }

  // --- the kernel
  kernel::Size stride(int64_t value) {
    if (value == 0 || value == 1) return kernel::Size::of(value);
    return given(value);
  }
  kernel::Size given(int64_t value) {
    sizes_.push_back(value);
    return kernel::Size::given(static_cast<int32_t>(sizes_.size()) - 1);
  }

  void add_access(const Reach& reach) {
    kernel::Access access{.dtype = reach.dtype, .strides = {}};
    for (int64_t s : reach.strides) access.strides.push_back(stride(s));
    nest_.accesses.push_back(std::move(access));
  }

  void finish(const Place& out) {
    for (const LoopAxis& axis : axes_)
      nest_.axes.push_back({axis.extent == 1 ? kernel::Size::of(1) : given(axis.extent), axis.reduced});
    for (const Reach& load : loads_) add_access(load);
    add_access(store_);
    nest_.exprs = exprs_.take_exprs();
    nest_.stores = {{static_cast<int32_t>(loads_.size()), root_expr_}};
    nest_.vector_axis = vector_axis();
    std::vector<Place> reads;
    for (const Reach& load : loads_) reads.push_back(load.place);
    auto step = std::make_unique<NestStep>(builder_.workshop().kernels, nest_, sizes_, reads, out);
    builder_.add_step(std::move(step), builder_.node(group_.root()), reads, std::span(&out, 1));
  }

  PlanBuilder& builder_;
  const Group& group_;
  kernel::LoopNest nest_;
  std::vector<LoopAxis> axes_;
  std::vector<Reach> loads_;
  Reach store_;
  std::vector<int64_t> sizes_;
  GroupExprs exprs_;
  int32_t root_expr_ = 0;
};

}  // namespace

void lower_nest(PlanBuilder& builder, const Group& group) { NestLowering(builder, group).run(); }

}  // namespace ingot::cpu
