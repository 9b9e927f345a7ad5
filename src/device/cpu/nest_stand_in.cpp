#include "device/cpu/nest_stand_in.h"

#include <algorithm>

namespace ingot::cpu {
namespace {

using kernel::LoopNest;
using kernel::Size;

bool same_expr(const kernel::Expr& a, const kernel::Expr& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.args == b.args && a.source == b.source &&
         a.real == b.real && a.real2 == b.real2 && a.integer == b.integer;
}

// What is computed, apart from where it lies and over which axes.
bool same_body(const LoopNest& a, const LoopNest& b) {
  return std::ranges::equal(a.exprs, b.exprs, same_expr) &&
         std::ranges::equal(a.accesses, b.accesses, {}, &kernel::Access::dtype, &kernel::Access::dtype) &&
         std::ranges::equal(a.stores, b.stores, [](const kernel::Store& s, const kernel::Store& t) {
           return s.access == t.access && s.expr == t.expr;
         });
}

// Positions count axes, which are not the same in both.
bool reads_positions(const LoopNest& nest) {
  return std::ranges::any_of(nest.exprs,
                             [](const kernel::Expr& e) { return e.kind == kernel::ExprKind::index; });
}

int64_t value_of(const Size& size, const std::vector<int64_t>& sizes) {
  return size.param < 0 ? size.value : sizes[static_cast<size_t>(size.param)];
}

// Finds for every axis of `other` an axis of `wanted`, in order, or none: one element.
class Matching {
 public:
  Matching(const LoopNest& wanted, const std::vector<int64_t>& sizes, const LoopNest& other, bool same_lanes)
      : wanted_(wanted), sizes_(sizes), other_(other), same_lanes_(same_lanes) {}

  bool find(size_t axis = 0, size_t from = 0) {
    if (axis == other_.axes.size()) return only_ones_from(from);
    for (size_t to = from; to < wanted_.axes.size(); ++to) {
      if (fits(axis, to)) {
        matched_.push_back(static_cast<int>(to));
        if (find(axis + 1, to + 1)) return true;
        matched_.pop_back();
      }
      if (extent(to) != 1) break;  // cannot be left out
    }
    if (!may_be_one(axis)) return false;
    matched_.push_back(-1);
    if (find(axis + 1, from)) return true;
    matched_.pop_back();
    return false;
  }

  std::vector<int64_t> sizes_of_other() const {
    std::vector<int64_t> out;
    const auto give = [&](const Size& size, int64_t value) {
      if (size.param < 0) return;
      out.resize(std::max(out.size(), static_cast<size_t>(size.param) + 1));
      out[static_cast<size_t>(size.param)] = value;
    };
    for (size_t i = 0; i < matched_.size(); ++i) {
      const int to = matched_[i];
      give(other_.axes[i].extent, to < 0 ? 1 : extent(static_cast<size_t>(to)));
      for (size_t a = 0; a < other_.accesses.size(); ++a)
        give(other_.accesses[a].strides[i], to < 0 ? 0 : stride(a, static_cast<size_t>(to)));
    }
    return out;
  }

 private:
  int64_t extent(size_t axis) const { return value_of(wanted_.axes[axis].extent, sizes_); }
  int64_t stride(size_t access, size_t axis) const {
    return value_of(wanted_.accesses[access].strides[axis], sizes_);
  }

  bool only_ones_from(size_t axis) const {
    for (; axis < wanted_.axes.size(); ++axis)
      if (extent(axis) != 1) return false;
    return true;
  }

  bool is_vector(const LoopNest& nest, size_t axis) const {
    return same_lanes_ && nest.vector_axis == static_cast<int32_t>(axis);
  }

  bool may_be_one(size_t axis) const {
    const Size& extent = other_.axes[axis].extent;
    return (extent.param >= 0 || extent.value == 1) && !is_vector(other_, axis);
  }

  bool fits(size_t axis, size_t to) const {
    const Size& given = other_.axes[axis].extent;
    if (other_.axes[axis].reduced != wanted_.axes[to].reduced) return false;
    if (given.param < 0 && given.value != extent(to)) return false;
    if (is_vector(other_, axis) != is_vector(wanted_, to)) return false;
    for (size_t a = 0; a < other_.accesses.size(); ++a) {
      const Size& step = other_.accesses[a].strides[axis];
      if (step.param < 0 && step.value != stride(a, to) && extent(to) != 1) return false;
    }
    return true;
  }

  const LoopNest& wanted_;
  const std::vector<int64_t>& sizes_;
  const LoopNest& other_;
  const bool same_lanes_;
  std::vector<int> matched_;
};

}  // namespace

std::optional<std::vector<int64_t>> stand_in_sizes(const LoopNest& wanted, const std::vector<int64_t>& sizes,
                                                   const LoopNest& other, bool same_lanes) {
  if (!same_body(wanted, other) || reads_positions(wanted)) return std::nullopt;
  const bool reduces = std::ranges::any_of(wanted.axes, &kernel::Axis::reduced);
  Matching matching(wanted, sizes, other, same_lanes || reduces);
  if (!matching.find()) return std::nullopt;
  return matching.sizes_of_other();
}

}  // namespace ingot::cpu
