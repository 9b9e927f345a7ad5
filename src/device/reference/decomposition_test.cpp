#include <gtest/gtest.h>

#include <cmath>

#include "device/reference/evaluate.h"
#include "ir/decompose.h"

// Composite ops of images and signals: the kernel computes what the decomposition says.
namespace ingot::reference {
namespace {

// Any values without symmetry.
Tensor data(Shape shape, double scale = 1) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(scale * std::sin(static_cast<double>(i) * 1.7 + 0.3));
  return Tensor::of(std::move(shape), values);
}

Tensor ints(std::vector<int64_t> values) { return Tensor::of({static_cast<int64_t>(values.size())}, values); }
Tensor int_scalar(int64_t value) { return Tensor::of<int64_t>({}, {value}); }
Tensor real_scalar(float value) { return Tensor::of<float>({}, {value}); }

void expect_kernel_is_decomposition(const Attrs& attrs, const std::vector<Datum>& operands,
                                    const std::string& what = {}) {
  SCOPED_TRACE(what);
  GraphBuilder g;
  std::vector<Value> values;
  for (const Datum& d : operands)
    values.push_back(d.is_none() ? Value() : g.input(fmt::format("{}", values.size()), Type::of(d.tensor())));
  g.output("y", g.add(attrs, values)[0]);
  Graph graph = std::move(g).finish();
  const Node& node = graph.node(graph.outputs()[0].value);
  Tensor kernel = evaluate_node(node, operands)[0].tensor();
  Decomposed parts = decompose(node, operands);
  Tensor decomposed = evaluate(parts.graph, parts.inputs)[0].tensor();
  ASSERT_EQ(kernel.shape(), decomposed.shape());
  ASSERT_EQ(kernel.dtype(), decomposed.dtype());
  auto a = kernel.data<float>(), b = decomposed.data<float>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-4 + 1e-5 * std::fabs(a[i])) << "element " << i;
}

const ResizeCoordinates kCoordinates[] = {
    ResizeCoordinates::half_pixel,          ResizeCoordinates::half_pixel_symmetric,
    ResizeCoordinates::pytorch_half_pixel,  ResizeCoordinates::align_corners,
    ResizeCoordinates::asymmetric,          ResizeCoordinates::tf_crop_and_resize,
    ResizeCoordinates::tf_half_pixel_for_nn};

ResizeAttrs resize_attrs(ResizeMode mode, ResizeCoordinates coordinates) {
  ResizeAttrs a;
  a.mode = mode;
  a.coordinates = coordinates;
  a.axes = {2, -1};
  a.extrapolation = 7;
  return a;
}

TEST(ResizeDecomposition, EqualsTheKernelInEveryCoordinateMode) {
  Datum x = data({1, 2, 5, 4}), roi = Tensor::of<float>({4}, {0.2f, -0.1f, 0.9f, 1.2f});
  for (auto coordinates : kCoordinates)
    for (auto mode : {ResizeMode::nearest, ResizeMode::linear, ResizeMode::cubic})
      for (double scale : {0.6, 1.0, 2.3}) {
        ResizeAttrs a = resize_attrs(mode, coordinates);
        a.scales = {scale, 1.5};
        bool crop = coordinates == ResizeCoordinates::tf_crop_and_resize;
        expect_kernel_is_decomposition(
            a, {x, crop ? roi : Datum()},
            fmt::format("mode {}, coordinates {}, scale {}", static_cast<int>(mode),
                        static_cast<int>(coordinates), scale));
      }
}

TEST(ResizeDecomposition, EqualsTheKernelWithFiltersAndRounding) {
  Datum x = data({1, 2, 9, 7});
  for (auto mode : {ResizeMode::linear, ResizeMode::cubic})
    for (int form = 1; form < 4; ++form) {
      ResizeAttrs a = resize_attrs(mode, ResizeCoordinates::half_pixel);
      a.antialias = (form & 1) != 0, a.exclude_outside = (form & 2) != 0;
      a.scales = {0.4, 1.5};
      expect_kernel_is_decomposition(a, {x}, fmt::format("mode {}, form {}", static_cast<int>(mode), form));
    }
  for (auto rounding : {ResizeNearest::round_prefer_floor, ResizeNearest::round_prefer_ceil,
                        ResizeNearest::floor, ResizeNearest::ceil}) {
    ResizeAttrs a = resize_attrs(ResizeMode::nearest, ResizeCoordinates::asymmetric);
    a.nearest = rounding;
    a.scales = {2, 0.5};
    expect_kernel_is_decomposition(a, {x}, fmt::format("rounding {}", static_cast<int>(rounding)));
  }
}

TEST(ResizeDecomposition, EqualsTheKernelWithSizesAndScalesOfRunTime) {
  Datum x = data({1, 2, 5, 4});
  for (auto policy : {ResizePolicy::stretch, ResizePolicy::not_larger, ResizePolicy::not_smaller}) {
    ResizeAttrs a = resize_attrs(ResizeMode::linear, ResizeCoordinates::half_pixel);
    a.policy = policy;
    expect_kernel_is_decomposition(a, {x, {}, {}, ints({7, 9})},
                                   fmt::format("policy {}", static_cast<int>(policy)));
  }
  expect_kernel_is_decomposition(resize_attrs(ResizeMode::cubic, ResizeCoordinates::half_pixel),
                                 {x, {}, Tensor::of<float>({2}, {1.7f, 0.7f})});
}

TEST(GridSampleDecomposition, EqualsTheKernelForImagesAndVolumes) {
  for (auto mode : {GridSampleMode::nearest, GridSampleMode::linear, GridSampleMode::cubic})
    for (auto padding : {GridSamplePadding::zeros, GridSamplePadding::border, GridSamplePadding::reflection})
      for (bool corners : {false, true}) {
        GridSampleAttrs a{.mode = mode, .padding = padding, .align_corners = corners};
        std::string what = fmt::format("mode {}, padding {}, corners {}", static_cast<int>(mode),
                                       static_cast<int>(padding), corners);
        expect_kernel_is_decomposition(a, {data({2, 3, 4, 5}), data({2, 3, 2, 2}, 1.6)}, what);
        expect_kernel_is_decomposition(a, {data({1, 2, 3, 4, 2}), data({1, 2, 3, 2, 3}, 1.6)},
                                       what + ", volume");
      }
}

TEST(RoiAlignDecomposition, EqualsTheKernel) {
  Datum rois = Tensor::of<float>({4, 4}, {0, 0, 6, 5, 2.5f, 1, 9, 4.2f, -3, -2, 1, 2, 3, 3, 2, 2}),
        images = ints({1, 0, 1, 0});
  for (auto mode : {RoiMode::avg, RoiMode::max})
    for (auto form : {RoiCoordinates::half_pixel, RoiCoordinates::output_half_pixel})
      for (int64_t ratio : {0, 2}) {
        RoiAlignAttrs a{.mode = mode,
                        .coordinates = form,
                        .height = 2,
                        .width = 3,
                        .sampling_ratio = ratio,
                        .spatial_scale = 0.8};
        expect_kernel_is_decomposition(
            a, {data({2, 2, 6, 7}), rois, images},
            fmt::format("mode {}, form {}, ratio {}", static_cast<int>(mode), static_cast<int>(form), ratio));
      }
}

// 67 is a prime that the kernel transforms as a convolution; the decomposition is the sum of the definition.
TEST(DftDecomposition, EqualsTheKernelForAnyLength) {
  for (int64_t n : {1, 2, 12, 67}) {
    std::string what = fmt::format("length {}", n);
    expect_kernel_is_decomposition(DftAttrs{.axis = 1}, {data({2, n, 1})}, what);
    expect_kernel_is_decomposition(DftAttrs{.axis = 1, .inverse = true}, {data({2, n, 2})}, what);
    expect_kernel_is_decomposition(DftAttrs{.axis = 1, .one_sided = true}, {data({2, n, 3, 1})}, what);
    expect_kernel_is_decomposition(DftAttrs{.axis = -3, .inverse = true, .one_sided = true},
                                   {data({2, n, 3, 2}), int_scalar(n == 1 ? 1 : 2 * n - 1)}, what);
  }
  expect_kernel_is_decomposition(DftAttrs{.axis = 0, .inverse = true, .one_sided = true}, {data({6, 2})},
                                 "even");
  expect_kernel_is_decomposition(DftAttrs{.axis = 1}, {data({2, 9, 2}), int_scalar(16)}, "longer");
  expect_kernel_is_decomposition(DftAttrs{.axis = 1}, {data({2, 9, 2}), int_scalar(5)}, "shorter");
  expect_kernel_is_decomposition(DftAttrs{}, {data({2, 9, 3, 2}), {}, int_scalar(1)}, "axis at run time");
}

TEST(StftDecomposition, EqualsTheKernel) {
  expect_kernel_is_decomposition(StftAttrs{}, {data({2, 40, 1}), int_scalar(7), data({12})});
  expect_kernel_is_decomposition(StftAttrs{}, {data({2, 40, 1}), int_scalar(7), {}, int_scalar(11)});
  expect_kernel_is_decomposition(StftAttrs{.one_sided = false},
                                 {data({1, 40, 2}), int_scalar(9), data({12}), int_scalar(12)});
}

TEST(MelWeightMatrixDecomposition, EqualsTheKernel) {
  expect_kernel_is_decomposition(MelWeightMatrixAttrs{}, {int_scalar(8), int_scalar(256), int_scalar(16000),
                                                          real_scalar(0), real_scalar(8000)});
  expect_kernel_is_decomposition(MelWeightMatrixAttrs{}, {int_scalar(40), int_scalar(64), int_scalar(8000),
                                                          real_scalar(20), real_scalar(4000)});
}

}  // namespace
}  // namespace ingot::reference
