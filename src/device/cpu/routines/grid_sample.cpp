#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/table.h"
#include "device/cpu/routines/walk.h"
#include "ir/grid_geometry.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kGrain = 64;  // grid points

struct Tap {
  int64_t offset;
  double weight;
};

// The pixels that one point of the grid reads: all combinations of those of each axis.
class PointTaps {
 public:
  PointTaps(const GridSampleAttrs& a, const View& x, const float* point, int64_t point_step) {
    const int axes = x.rank - 2;
    for (int k = 0; k < axes; ++k) {  // coordinates name the last axis first
      const auto axis = static_cast<size_t>(k + 2);
      add_axis({a, x.sizes[axis]}, x.strides[axis], static_cast<double>(point[(axes - 1 - k) * point_step]));
    }
  }

  float sum(const float* pixels) const {
    double sum = 0;
    for (int i = 0; i < count_; ++i)
      sum += taps_[static_cast<size_t>(i)].weight *
             static_cast<double>(pixels[taps_[static_cast<size_t>(i)].offset]);
    return static_cast<float>(sum);
  }

  static constexpr int kMostAxes = 3;

 private:
  void add_axis(const GridAxis& axis, int64_t stride, double normalised) {
    std::array<Tap, GridAxis::kMostTaps> own;
    int count = 0;
    axis.taps(axis.coordinate(normalised), [&](int64_t pixel, double weight) {
      own[static_cast<size_t>(count++)] = {pixel * stride, weight};
    });
    const std::array<Tap, kMost> before = taps_;
    const int outer = std::exchange(count_, 0);
    for (int i = 0; i < outer; ++i)
      for (int j = 0; j < count; ++j) {
        const Tap &x = before[static_cast<size_t>(i)], &y = own[static_cast<size_t>(j)];
        taps_[static_cast<size_t>(count_++)] = {x.offset + y.offset, x.weight * y.weight};
      }
  }

  static constexpr size_t kMost = 64;  // four along each of three axes
  std::array<Tap, kMost> taps_ = {Tap{0, 1}};
  int count_ = 1;
};

// The grid without its last axis: positions of one output, beside the strides that they have in x (its batch
// only), the grid and the output.
void grid_sample(const RoutineCall& call) {
  const auto& a = call.node.as<GridSampleAttrs>();
  const View &x = call.in[0], &grid = call.in[1], &out = call.out[0];
  if (x.sizes[0] != grid.sizes[0])
    refuse(call, fmt::format("a grid for {} images", x.sizes[0]), fmt::format("{}", grid.sizes[0]));
  Strides from = {}, to = out.strides;
  from[0] = x.strides[0];
  std::copy(out.strides.begin() + 2, out.strides.end(), to.begin() + 1);
  const int rank = grid.rank - 1;
  int64_t points = 1;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) points *= grid.sizes[i];
  const int64_t step = grid.strides[static_cast<size_t>(rank)];
  call.pool.parallel_for(points, kGrain, [&](int64_t begin, int64_t end, int) {
    StridedWalk<3> walk(rank, grid.sizes, {from, grid.strides, to}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      const PointTaps taps(a, x, elements<const float>(grid) + walk.at[1], step);
      for (int64_t c = 0; c < x.sizes[1]; ++c)
        elements<float>(out)[walk.at[2] + c * out.strides[1]] =
            taps.sum(elements<const float>(x) + walk.at[0] + c * x.strides[1]);
    }
  });
}

bool supports(const RoutineCall& call) {
  return moves_cells(call) && call.in[0].dtype == DType::f32 && call.in[1].dtype == DType::f32 &&
         call.in[0].rank <= PointTaps::kMostAxes + 2;
}

}  // namespace

void add_grid_sample_routines(RoutineTable& t) {
  t[Op::GridSample] = {.supports = supports, .run = grid_sample};
}

}  // namespace ingot::cpu
