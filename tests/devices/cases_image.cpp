// Resizing and sampling of images.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

template <class E>
std::string_view name_of(E value) {
  return enum_names<E>()[static_cast<size_t>(value)];
}

void add_resizes(Table& table) {
  using Coordinates = ResizeCoordinates;
  const std::vector<std::vector<double>> scales = {{2, 2}, {0.5, 0.75}, {1.7, 0.6}, {3, 1}};
  for (ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear, ResizeMode::cubic})
    for (Coordinates coordinates : {Coordinates::half_pixel, Coordinates::pytorch_half_pixel,
                                    Coordinates::align_corners, Coordinates::asymmetric})
      for (const auto& scale : scales)
        for (DType dtype : {DType::f32, DType::f16, DType::u8}) {
          if (dtype == DType::u8 && mode != ResizeMode::nearest)
            continue;  // rounding to integers is another story
          auto build = [=](GraphMaker& m) {
            ResizeAttrs a;
            a.mode = mode;
            a.coordinates = coordinates;
            a.scales = scale;
            a.axes = {2, 3};
            return std::vector<Value>{m.g.resize(m.tensor(dtype, {1, 5, 8, 12}, {0, 4}), {}, {}, {}, a)};
          };
          table.push_back({fmt::format("resize {} {} {} by {} {}", name_of(mode), name_of(coordinates),
                                       to_string(dtype), scale[0], scale[1]),
                           build, mode == ResizeMode::nearest ? Closeness::exact : Closeness::composed,
                           plain_and_one_more(table.size())});
        }
  auto to_sizes = [](GraphMaker& m) {
    ResizeAttrs a;
    a.mode = ResizeMode::linear;
    a.axes = {2, 3};
    a.antialias = true;
    return std::vector<Value>{m.g.resize(m.tensor(DType::f32, {2, 3, 15, 20}), {}, {}, m.ints({7, 9}), a)};
  };
  table.push_back({"resize to sizes, antialiased", to_sizes, Closeness::composed, all_sources()});
}

void add_grid_samples(Table& table) {
  for (GridSampleMode mode : {GridSampleMode::linear, GridSampleMode::nearest, GridSampleMode::cubic})
    for (GridSamplePadding padding :
         {GridSamplePadding::zeros, GridSamplePadding::border, GridSamplePadding::reflection})
      for (bool corners : {false, true}) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.tensor(DType::f32, {2, 3, 7, 9}),
                      grid = m.tensor(DType::f32, {2, 5, 4, 2}, {-1.3, 1.3});
          return std::vector<Value>{
              m.g.grid_sample(x, grid, {.mode = mode, .padding = padding, .align_corners = corners})};
        };
        table.push_back(
            {fmt::format("grid_sample {} {}{}", name_of(mode), name_of(padding), corners ? " corners" : ""),
             build, Closeness::composed, plain_and_one_more(table.size())});
      }
}

void add_rois_and_determinants(Table& table) {
  for (RoiMode mode : {RoiMode::avg, RoiMode::max}) {
    auto build = [=](GraphMaker& m) {
      const Value x = m.tensor(DType::f32, {2, 3, 9, 9});
      const Value rois = m.constant(Tensor::of<float>({3, 4}, {0, 0, 6, 5, 1, 2, 8, 8, 3, 3, 4, 4}));
      return std::vector<Value>{m.g.roi_align(x, rois, m.ints({0, 1, 0}),
                                              {.mode = mode, .height = 3, .width = 2, .sampling_ratio = 2})};
    };
    table.push_back({fmt::format("roi_align {}", name_of(mode)), build, Closeness::composed, all_sources()});
  }
  for (DType dtype : {DType::f32, DType::f64}) {
    auto build = [=](GraphMaker& m) {
      const Value x = m.tensor(dtype, {3, 2, 4, 4}),
                  diagonal = m.g.constant(
                      tensor_of(dtype, {4, 4}, {5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5}));
      return std::vector<Value>{m.g.det(m.g.add(x, diagonal))};
    };
    table.push_back({fmt::format("det {}", to_string(dtype)), build, Closeness::composed, all_sources()});
  }
}

}  // namespace

void add_image_cases(Table& table) {
  add_resizes(table);
  add_grid_samples(table);
  add_rois_and_determinants(table);
}

}  // namespace ingot::devices
