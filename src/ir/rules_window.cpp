#include "ir/rules.h"
#include "ir/window.h"

// Convolution and pooling. Data is [batch, channels, spatial...].
namespace ingot::rules {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

void require_spatial(const Inference& c, size_t operand) {
  if (c.rank(operand) < 3)
    c.fail(static_cast<int>(operand), "[batch, channels, spatial...], rank 3 or more",
           to_string(c.dims(operand)));
}

void require_equal(const Inference& c, int operand, const Dim& expected, const Dim& observed,
                   const char* what) {
  if (expected.is_constant() && observed.is_constant() && expected != observed)
    c.fail(operand, fmt::format("{} {}", expected.constant(), what), fmt::format("{}", observed.constant()));
}

void require_groups(const Inference& c, int64_t group, const Dim& channels, int operand) {
  if (group < 1) c.fail(-1, "group of at least 1", fmt::format("{}", group));
  if (channels.is_constant() && channels.constant() % group != 0)
    c.fail(operand, fmt::format("channels divisible by group {}", group),
           fmt::format("{}", channels.constant()));
}

// x [N, C, ...], w [M, C/group, ...], bias [M].
void conv_like(Inference& c, size_t w, size_t bias, int64_t group, const WindowAttrs& window) {
  c.require_same_dtype(0, w);
  if (!c.is_ranked(0) || !c.is_ranked(w)) return c.set(0, Type::unranked(c.dtype(0)));
  require_spatial(c, 0);
  const Dims &x = c.dims(0), &k = c.dims(w);
  if (k.size() != x.size()) c.fail(static_cast<int>(w), fmt::format("rank {}", x.size()), to_string(k));
  require_groups(c, group, x[1], 0);
  require_groups(c, group, k[0], static_cast<int>(w));
  require_equal(c, 0, k[1] * group, x[1], "channels");
  if (c.has(bias)) {
    c.require_same_dtype(0, bias);
    if (c.is_ranked(bias) && (c.rank(bias) != 1))
      c.fail(static_cast<int>(bias), "rank 1", to_string(c.dims(bias)));
    if (c.is_ranked(bias)) require_equal(c, static_cast<int>(bias), k[0], c.dims(bias)[0], "elements");
  }
  Dims out = {x[0], k[0]};
  for (size_t i = 2; i < x.size(); ++i)
    out.push_back(window_count(window, window_axis(window, i - 2, x.size() - 2), x[i], k[i]));
  c.set(0, c.dtype(0), std::move(out));
}

// The pooled shape of operand 0.
template <class A>
Type pooled(const Inference& c) {
  const auto& a = c.attrs<A>();
  if (!c.is_ranked(0)) return Type::unranked(c.dtype(0));
  require_spatial(c, 0);
  Dims out = c.dims(0);
  size_t axes = out.size() - 2;
  if (a.kernel.size() != axes)
    c.fail(-1, fmt::format("a kernel of {} sizes", axes), fmt::format("{}", a.kernel.size()));
  WindowAttrs window = window_attrs(a);
  for (size_t i = 0; i < axes; ++i) {
    if (a.kernel[i] < 1 || a.kernel[i] > kLargest)
      c.fail(-1, fmt::format("kernel sizes in [1, {}]", kLargest), fmt::format("{}", a.kernel[i]));
    out[i + 2] = window_count(window, window_axis(window, i, axes), out[i + 2], a.kernel[i]);
  }
  return Type::tensor(c.dtype(0), std::move(out));
}

}  // namespace

void conv_type(Inference& c) {
  const auto& a = c.attrs<ConvAttrs>();
  conv_like(c, 1, 2, a.group, window_attrs(a));
}

// x, w, offset [N, offset_group * 2 * kernel, out...], bias, mask [N, offset_group * kernel, out...].
void deform_conv_type(Inference& c) {
  const auto& a = c.attrs<DeformConvAttrs>();
  conv_like(c, 1, 3, a.group, window_attrs(a));
  if (a.offset_group < 1) c.fail(-1, "offset_group of at least 1", fmt::format("{}", a.offset_group));
  for (size_t i : {size_t{2}, size_t{4}}) {
    if (!c.has(i)) continue;
    c.require_same_dtype(0, i);
    if (!c.is_ranked(0) || !c.is_ranked(1) || !c.is_ranked(i)) continue;
    if (c.rank(0) != 4 || c.rank(i) != 4)
      c.fail(static_cast<int>(i), "two spatial axes", to_string(c.dims(i)));
    Dim cells = c.dims(1)[2] * c.dims(1)[3] * a.offset_group * (i == 2 ? 2 : 1);
    require_equal(c, static_cast<int>(i), cells, c.dims(i)[1], "channels");
  }
}

// x [N, C, ...], w [C, M/group, ...], bias [M].
void conv_transpose_type(Inference& c) {
  const auto& a = c.attrs<ConvTransposeAttrs>();
  c.require_same_dtype(0, 1);
  if (c.has(2)) c.require_same_dtype(0, 2);
  if (!c.is_ranked(0) || !c.is_ranked(1)) return c.set(0, Type::unranked(c.dtype(0)));
  require_spatial(c, 0);
  const Dims &x = c.dims(0), &k = c.dims(1);
  if (k.size() != x.size()) c.fail(1, fmt::format("rank {}", x.size()), to_string(k));
  require_groups(c, a.group, x[1], 0);
  require_equal(c, 1, x[1], k[0], "channels");
  Dims out = {x[0], k[1] * a.group};
  if (c.has(2) && c.is_ranked(2)) {
    if (c.rank(2) != 1) c.fail(2, "rank 1", to_string(c.dims(2)));
    require_equal(c, 2, out[1], c.dims(2)[0], "elements");
  }
  size_t axes = x.size() - 2;
  for (const auto* list : {&a.output_padding, &a.output_shape})
    if (!list->empty() &&
        (list->size() != axes || std::ranges::min(*list) < 0 || std::ranges::max(*list) > kLargest))
      c.fail(-1, fmt::format("{} output sizes and paddings in [0, {}]", axes, kLargest),
             fmt::format("[{}]", fmt::join(*list, ", ")));
  WindowAttrs window = window_attrs(a);
  for (size_t i = 0; i < axes; ++i) {
    auto size = a.output_shape.empty() ? std::nullopt : std::optional(a.output_shape[i]);
    int64_t padding = a.output_padding.empty() ? 0 : a.output_padding[i];
    out.push_back(transposed_size(window, window_axis(window, i, axes), padding, size, x[i + 2], k[i + 2]));
    if (out.back().is_constant() && out.back().constant() < 0)
      c.fail(-1, "an output of no negative size", to_string(out));
  }
  c.set(0, c.dtype(0), std::move(out));
}

void average_pool_type(Inference& c) { c.set(0, pooled<AveragePoolAttrs>(c)); }

void lp_pool_type(Inference& c) {
  if (!(c.attrs<LpPoolAttrs>().p > 0)) c.fail(-1, "p above 0", fmt::format("{}", c.attrs<LpPoolAttrs>().p));
  c.set(0, pooled<LpPoolAttrs>(c));
}

void max_pool_type(Inference& c) {
  Type type = pooled<MaxPoolAttrs>(c);
  c.set(0, type);
  type.dtype = DType::i64;
  c.set(1, std::move(type));
}

void max_unpool_type(Inference& c) {
  const auto& a = c.attrs<MaxUnpoolAttrs>();
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(c.dtype(0)));
  require_spatial(c, 0);
  Dims out = c.dims(0);
  if (c.has(2)) {
    if (auto wanted = c.values(2)) {
      if (wanted->size() != out.size()) c.fail(2, fmt::format("{} sizes", out.size()), to_string(*wanted));
      return c.set(0, c.dtype(0), std::move(*wanted));
    }
    for (size_t i = 2; i < out.size(); ++i) out[i] = c.fresh("unpool");
    return c.set(0, c.dtype(0), std::move(out));
  }
  size_t axes = out.size() - 2;
  if (a.kernel.size() != axes)
    c.fail(-1, fmt::format("a kernel of {} sizes", axes), fmt::format("{}", a.kernel.size()));
  WindowAttrs window = window_attrs(a);
  for (size_t i = 0; i < axes; ++i)
    out[i + 2] =
        transposed_size(window, window_axis(window, i, axes), 0, std::nullopt, out[i + 2], a.kernel[i]);
  c.set(0, c.dtype(0), std::move(out));
}

// rois [number, 5]: batch index, then x1 y1 x2 y2.
void max_roi_pool_type(Inference& c) {
  const auto& a = c.attrs<MaxRoiPoolAttrs>();
  c.require_same_dtype(0, 1);
  if (a.pooled.size() != 2 || a.pooled[0] < 1 || a.pooled[1] < 1)
    c.fail(-1, "two pooled sizes of at least 1", fmt::format("[{}]", fmt::join(a.pooled, ", ")));
  if (!c.is_ranked(0) || !c.is_ranked(1)) return c.set(0, Type::unranked(c.dtype(0)));
  if (c.rank(0) != 4) c.fail(0, "rank 4", to_string(c.dims(0)));
  if (c.rank(1) != 2) c.fail(1, "[number, 5]", to_string(c.dims(1)));
  require_equal(c, 1, 5, c.dims(1)[1], "numbers a region");
  c.set(0, c.dtype(0), {c.dims(1)[0], c.dims(0)[1], a.pooled[0], a.pooled[1]});
}

}  // namespace ingot::rules
