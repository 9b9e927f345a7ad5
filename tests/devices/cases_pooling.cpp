// Pooling of one to three dimensions.
#include "ir/op_info.h"
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

struct Form {
  Shape x;
  std::vector<int64_t> kernel, strides = {}, dilations = {}, pads = {};
  AutoPad auto_pad = AutoPad::none;
  bool ceil = false;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {{1, 3, 9, 11}, {3, 3}},
      {{2, 17, 8, 8}, {2, 2}, {2, 2}},
      {{1, 16, 13, 14}, {3, 3}, {2, 2}, {}, {1, 1, 1, 1}},
      {{1, 5, 9, 9}, {3, 2}, {1, 2}, {2, 1}, {1, 0, 1, 1}},
      {{1, 5, 10, 9}, {3, 3}, {2, 2}, {}, {}, AutoPad::same_upper},
      {{1, 5, 10, 9}, {3, 3}, {2, 2}, {}, {}, AutoPad::same_lower},
      {{1, 5, 10, 9}, {3, 3}, {2, 2}, {}, {}, AutoPad::none, true},
      {{1, 5, 10, 9}, {3, 3}, {2, 2}, {}, {1, 1, 0, 0}, AutoPad::none, true},
      {{2, 7, 31}, {5}, {2}, {}, {2, 2}},
      {{1, 3, 5, 6, 7}, {2, 3, 2}, {2, 1, 2}, {}, {1, 1, 0, 0, 1, 0}},
      {{1, 33, 7, 7}, {7, 7}},
      {{1, 4, 6, 6}, {1, 1}, {2, 2}},
  };
  return all;
}

std::string name_of(const Form& f) {
  return fmt::format("{} kernel {} strides {} dilations {} pads {} {}{}", to_string(f.x), to_string(f.kernel),
                     to_string(f.strides), to_string(f.dilations), to_string(f.pads),
                     enum_names<AutoPad>()[static_cast<size_t>(f.auto_pad)], f.ceil ? " ceil" : "");
}

void add_max_pools(Table& table) {
  for (DType dtype : {DType::f32, DType::f16, DType::f64, DType::u8, DType::i8})
    for (const Form& f : forms())
      for (bool column_major : {false, true}) {
        auto build = [=](GraphMaker& m) {
          const auto [y, indices] =
              m.g.max_pool(m.tensor(dtype, f.x, {-100, 100}), {.kernel = f.kernel,
                                                               .strides = f.strides,
                                                               .dilations = f.dilations,
                                                               .pads = f.pads,
                                                               .auto_pad = f.auto_pad,
                                                               .ceil_mode = f.ceil,
                                                               .column_major_indices = column_major});
          return column_major ? std::vector<Value>{y, indices} : std::vector<Value>{y};
        };
        table.push_back(
            {fmt::format("max_pool {} {}{}", to_string(dtype), name_of(f), column_major ? " indices" : ""),
             build, Closeness::exact,
             dtype == DType::f32 && !column_major ? all_sources() : plain_and_one_more(table.size())});
      }
}

void add_average_pools(Table& table) {
  for (DType dtype : {DType::f32, DType::f16, DType::f64})
    for (const Form& f : forms())
      for (bool include : {false, true}) {
        auto build = [=](GraphMaker& m) {
          return std::vector<Value>{m.g.average_pool(m.tensor(dtype, f.x), {.kernel = f.kernel,
                                                                            .strides = f.strides,
                                                                            .dilations = f.dilations,
                                                                            .pads = f.pads,
                                                                            .auto_pad = f.auto_pad,
                                                                            .ceil_mode = f.ceil,
                                                                            .count_include_pad = include})};
        };
        table.push_back(
            {fmt::format("average_pool {} {}{}", to_string(dtype), name_of(f), include ? " included" : ""),
             build, Closeness::sums, plain_and_one_more(table.size())});
      }
  for (const Form& f : forms())
    for (double p : {1.0, 2.0, 3.0}) {
      auto build = [=](GraphMaker& m) {
        return std::vector<Value>{m.g.lp_pool(m.tensor(DType::f32, f.x), {.kernel = f.kernel,
                                                                          .strides = f.strides,
                                                                          .dilations = f.dilations,
                                                                          .pads = f.pads,
                                                                          .auto_pad = f.auto_pad,
                                                                          .ceil_mode = f.ceil,
                                                                          .p = p})};
      };
      table.push_back({fmt::format("lp_pool {} p {}", name_of(f), p), build, Closeness::composed,
                       plain_and_one_more(table.size())});
    }
}

void add_others(Table& table) {
  auto unpool = [](GraphMaker& m) {
    const auto [y, indices] =
        m.g.max_pool(m.tensor(DType::f32, {1, 3, 8, 10}), {.kernel = {2, 2}, .strides = {2, 2}});
    return std::vector<Value>{m.g.max_unpool(y, indices, {}, {.kernel = {2, 2}, .strides = {2, 2}})};
  };
  table.push_back({"max_unpool", unpool, Closeness::exact, all_sources()});
  auto roi = [](GraphMaker& m) {
    const Value x = m.tensor(DType::f32, {2, 3, 9, 9});
    const Value rois = m.constant(Tensor::of<float>({3, 5}, {0, 0, 0, 6, 5, 1, 2, 1, 8, 8, 0, 4, 4, 4, 4}));
    return std::vector<Value>{m.g.max_roi_pool(x, rois, {.pooled = {3, 2}, .spatial_scale = 0.9})};
  };
  table.push_back({"max_roi_pool", roi, Closeness::exact, all_sources()});
}

}  // namespace

void add_pooling_cases(Table& table) {
  add_max_pools(table);
  add_average_pools(table);
  add_others(table);
}

}  // namespace ingot::devices
