#include <cmath>

#include "ir/resize_geometry.h"
#include "ir/rules.h"
#include "ir/shape_values.h"

namespace ingot::rules {
namespace {

// floor(size * scale), where that can be said of a size that is not known yet.
Dim scaled(const Inference& c, const Dim& size, double scale) {
  if (size.is_constant())
    return static_cast<int64_t>(std::floor(static_cast<float>(size.constant()) * static_cast<float>(scale)));
  if (scale >= 1 && scale <= 1024 && scale == std::floor(scale))
    return size * Dim(static_cast<int64_t>(scale));
  double inverse = 1 / scale;
  if (inverse > 1 && inverse <= 1024 && inverse == std::floor(inverse))
    return floordiv(size, static_cast<int64_t>(inverse));
  return c.fresh("resize");
}

// Sizes of the resized axes; `given` counts entries like the axes.
Dim resized(const Inference& c, const ResizeAttrs& a, size_t entry, const Dim& size,
            const std::optional<std::vector<Dim>>& sizes) {
  if (sizes && a.policy == ResizePolicy::stretch) return (*sizes)[entry];
  if (!a.scales.empty()) return scaled(c, size, a.scales[entry]);
  return c.fresh("resize");
}

void require_entries(const Inference& c, int operand, std::string_view what, size_t found, size_t wanted) {
  if (found != wanted) c.fail(operand, fmt::format("{} {}", wanted, what), fmt::format("{}", found));
}

// x: N C D1..Dk
void require_spatial_rank(const Inference& c, size_t i, size_t at_least) {
  if (c.is_ranked(i) && c.dims(i).size() < at_least)
    c.fail(static_cast<int>(i), fmt::format("rank of at least {}", at_least), to_string(c.type(i)));
}

}  // namespace

void resize_type(Inference& c) {
  const auto& a = c.attrs<ResizeAttrs>();
  if (!c.is_ranked(0)) return c.set(0, c.type(0));
  if ((a.scales.empty() ? 0 : 1) + (c.has(2) ? 1 : 0) + (c.has(3) ? 1 : 0) != 1)
    c.fail(-1, "either scales or sizes", "both or neither");
  Dims dims = c.dims(0);
  std::vector<int64_t> axes = c.axes(a.axes, c.rank(0));
  if (axes.empty())
    for (int64_t i = 0; i < c.rank(0); ++i) axes.push_back(i);
  auto sizes = c.values(3);
  if (!a.scales.empty()) require_entries(c, -1, "scales", a.scales.size(), axes.size());
  if (sizes) require_entries(c, 3, "sizes", sizes->size(), axes.size());
  for (double s : a.scales)
    if (!(s > 0) || s > 1e6) c.fail(-1, "scales in (0, 1e6]", fmt::format("{}", s));
  auto known = sizes ? c.constants(3) : std::nullopt;
  auto in = known && a.policy != ResizePolicy::stretch ? numbers(dims) : std::nullopt;
  if (in) {
    for (const ResizeAxis& axis : resize_axes(a, *in, std::vector<double>(2 * axes.size()), {}, *known))
      dims[static_cast<size_t>(axis.axis)] = axis.out;
  } else {
    for (size_t i = 0; i < axes.size(); ++i) {
      Dim& d = dims[static_cast<size_t>(axes[i])];
      d = resized(c, a, i, d, sizes);
    }
  }
  c.set(0, c.dtype(0), std::move(dims));
}

// x [n, c, d1..dk], grid [n, e1..ek, k] -> [n, c, e1..ek]
void grid_sample_type(Inference& c) {
  require_spatial_rank(c, 0, 3);
  require_spatial_rank(c, 1, 3);
  if (!c.is_ranked(1)) return c.set(0, Type::unranked(c.dtype(0)));
  const Dims& grid = c.dims(1);
  if (c.is_ranked(0) && c.dims(0).size() != grid.size())
    c.fail(1, fmt::format("rank {}", c.rank(0)), to_string(c.type(1)));
  if (grid.back().is_constant() && grid.back().constant() != c.rank(1) - 2)
    c.fail(1, fmt::format("{} coordinates", c.rank(1) - 2), to_string(c.type(1)));
  Dims dims{grid[0], c.is_ranked(0) ? c.dims(0)[1] : c.fresh("channels")};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  c.set(0, c.dtype(0), std::move(dims));
}

// x [n, c, h, w], rois [r, 4], batch_indices [r] -> [r, c, height, width]
void roi_align_type(Inference& c) {
  const auto& a = c.attrs<RoiAlignAttrs>();
  if (a.height < 1 || a.width < 1 || a.height > Dim::kMax || a.width > Dim::kMax)
    c.fail(-1, "an output of at least 1 x 1", fmt::format("{} x {}", a.height, a.width));
  if (a.sampling_ratio < 0) c.fail(-1, "a sampling ratio of at least 0", fmt::format("{}", a.sampling_ratio));
  if (c.is_ranked(0) && c.rank(0) != 4) c.fail(0, "shape [n, c, h, w]", to_string(c.type(0)));
  if (c.is_ranked(1) && (c.rank(1) != 2 || (c.dims(1)[1].is_constant() && c.dims(1)[1] != Dim(4))))
    c.fail(1, "shape [rois, 4]", to_string(c.type(1)));
  Dim rois = c.is_ranked(1) ? c.dims(1)[0] : c.fresh("rois");
  c.set(0, c.dtype(0), {rois, c.is_ranked(0) ? c.dims(0)[1] : c.fresh("channels"), a.height, a.width});
}

// [..., n, n] -> [...]
void det_type(Inference& c) {
  if (!c.is_ranked(0)) return c.set(0, c.type(0));
  Dims dims = c.dims(0);
  if (dims.size() < 2) c.fail(0, "rank of at least 2", to_string(c.type(0)));
  const Dim &rows = dims[dims.size() - 2], &columns = dims.back();
  if (rows.is_constant() && columns.is_constant() && rows != columns)
    c.fail(0, "square matrices", to_string(c.type(0)));
  dims.resize(dims.size() - 2);
  c.set(0, c.dtype(0), std::move(dims));
}

}  // namespace ingot::rules
