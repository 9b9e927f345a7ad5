#include "device/cpu/lower_scatter.h"

#include <algorithm>
#include <optional>

#include "device/cpu/plan_builder.h"
#include "device/cpu/static_graph.h"
#include "ir/numeric.h"

namespace ingot::cpu {
namespace {

// Index tuples that move along one coordinate for each axis of their tensor, another one for each.
struct Grid {
  struct Axis {
    int64_t count = 1;
    size_t coordinate = 0;
    int64_t step = 0;
  };
  std::vector<int64_t> start;
  std::vector<Axis> axes;
};

class GridFinder {
 public:
  GridFinder(const Tensor& indices, const Shape& whole)
      : shape_(indices.shape()), length_(static_cast<size_t>(shape_.back())), whole_(whole) {
    values_.resize(static_cast<size_t>(element_count(shape_)));
    decode_to_i64(indices.dtype(), indices.bytes().data(), static_cast<int64_t>(values_.size()),
                  values_.data());
    for (size_t i = 0; i < values_.size(); ++i)
      if (values_[i] < 0) values_[i] += whole_[i % length_];
  }

  std::optional<Grid> find() {
    if (values_.empty()) return std::nullopt;
    Grid grid{.start = tuple(0), .axes = {}};
    size_t inner = 1;
    for (size_t axis = shape_.size() - 1; axis-- > 0;) {
      const std::optional<Grid::Axis> found = axis_at(grid.start, inner, shape_[axis]);
      if (!found) return std::nullopt;
      grid.axes.insert(grid.axes.begin(), *found);
      inner *= static_cast<size_t>(shape_[axis]);
    }
    return is_injective(grid) && describes_all(grid) ? std::optional(grid) : std::nullopt;
  }

 private:
  std::vector<int64_t> tuple(size_t i) const {
    const auto at = values_.begin() + static_cast<ptrdiff_t>(i * length_);
    return {at, at + static_cast<ptrdiff_t>(length_)};
  }

  // From the first two tuples along an axis, which lie `inner` tuples apart.
  std::optional<Grid::Axis> axis_at(const std::vector<int64_t>& start, size_t inner, int64_t count) const {
    Grid::Axis axis{.count = count};
    if (count == 1) return axis;
    const std::vector<int64_t> next = tuple(inner);
    for (size_t k = 0; k < length_; ++k) {
      if (next[k] == start[k]) continue;
      if (axis.step != 0) return std::nullopt;
      axis.coordinate = k;
      axis.step = next[k] - start[k];
    }
    return axis.step == 0 ? std::nullopt : std::optional(axis);
  }

  // No two tuples are equal.
  bool is_injective(const Grid& grid) const {
    std::vector<bool> taken(length_);
    for (const Grid::Axis& axis : grid.axes) {
      if (axis.count == 1) continue;
      if (taken[axis.coordinate]) return false;
      taken[axis.coordinate] = true;
    }
    return true;
  }

  bool describes_all(const Grid& grid) const {
    for (size_t i = 0; i * length_ < values_.size(); ++i) {
      std::vector<int64_t> expected = grid.start;
      size_t rest = i;
      for (size_t a = grid.axes.size(); a-- > 0;) {
        const Grid::Axis& axis = grid.axes[a];
        expected[axis.coordinate] += static_cast<int64_t>(rest % static_cast<size_t>(axis.count)) * axis.step;
        rest /= static_cast<size_t>(axis.count);
      }
      if (expected != tuple(i)) return false;
      for (size_t k = 0; k < length_; ++k)
        if (expected[k] < 0 || expected[k] >= whole_[k]) return false;
    }
    return true;
  }

  Shape shape_;
  size_t length_;
  const Shape& whole_;
  std::vector<int64_t> values_;
};

// The part of `whole` that a grid names, in the axes of the updates.
Place part_of(const Place& whole, const Grid& grid) {
  Place part = whole;
  part.view.sizes = {};
  part.view.strides = {};
  size_t rank = 0;
  const auto push = [&](int64_t size, int64_t stride) {
    part.view.sizes[rank] = size;
    part.view.strides[rank++] = stride;
  };
  for (const Grid::Axis& axis : grid.axes) push(axis.count, axis.step * whole.view.strides[axis.coordinate]);
  const int64_t bytes = bit_width(whole.view.dtype) / 8;
  for (size_t k = 0; k < static_cast<size_t>(whole.view.rank); ++k) {
    if (k < grid.start.size())
      part.offset += grid.start[k] * whole.view.strides[k] * bytes;
    else
      push(whole.view.sizes[k], whole.view.strides[k]);
  }
  part.view.rank = static_cast<int>(rank);
  return part;
}

std::optional<Grid> find_grid(const Graph& graph, const Node& node) {
  if (node.as<ScatterNdAttrs>().reduction != Reduction::none) return std::nullopt;
  const Tensor* indices = constant_of(graph, node.operands[1]);
  if (indices == nullptr || indices->shape().empty() || indices->shape().back() == 0) return std::nullopt;
  const Shape whole = static_shape(node.types[0]);
  return GridFinder(*indices, whole).find();
}

}  // namespace

bool lower_slice_update(PlanBuilder& builder, int32_t n) {
  const Node& node = builder.node(n);
  const auto fits = [&](const Type& type) {
    return type.dims->size() <= kMaxRank && !is_sub_byte(type.dtype) && type.dtype != DType::string;
  };
  if (node.op != Op::ScatterNd || !fits(node.types[0]) || !fits(builder.graph().type(node.operands[2])))
    return false;
  const std::optional<Grid> grid = find_grid(builder.graph(), node);
  if (!grid) return false;
  const Place x = builder.place(node.operands[0]), updates = builder.place(node.operands[2]);
  const Place out = builder.allocate({n, 0});
  builder.set_place({n, 0}, out);
  add_copy(builder, node, x, out);
  add_copy(builder, node, updates, part_of(out, *grid));
  return true;
}

}  // namespace ingot::cpu
