// Convolutions of one to three dimensions, with every attribute.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

struct Form {
  Shape x, w;
  std::vector<int64_t> strides = {}, dilations = {}, pads = {};
  int64_t group = 1;
  AutoPad auto_pad = AutoPad::none;
  std::vector<int64_t> output_padding = {};
};

std::string name_of(const Form& f) {
  std::string name = fmt::format("{} {}", to_string(f.x), to_string(f.w));
  if (!f.strides.empty()) name += " strides " + to_string(f.strides);
  if (!f.dilations.empty()) name += " dilations " + to_string(f.dilations);
  if (!f.pads.empty()) name += " pads " + to_string(f.pads);
  if (f.group != 1) name += fmt::format(" group {}", f.group);
  if (f.auto_pad != AutoPad::none)
    name += fmt::format(" {}", enum_names<AutoPad>()[static_cast<size_t>(f.auto_pad)]);
  if (!f.output_padding.empty()) name += " output_padding " + to_string(f.output_padding);
  return name;
}

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {{1, 3, 9, 11}, {8, 3, 3, 3}},
      {{2, 5, 9, 11}, {7, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 16, 14, 14}, {32, 16, 3, 3}, {2, 2}, {}, {1, 1, 1, 1}},
      {{1, 33, 7, 7}, {17, 33, 1, 1}},
      {{2, 24, 8, 9}, {40, 24, 1, 1}, {2, 2}},
      {{1, 3, 23, 23}, {16, 3, 7, 7}, {2, 2}, {}, {3, 3, 3, 3}},
      {{1, 16, 13, 15}, {16, 1, 3, 3}, {}, {}, {1, 1, 1, 1}, 16},
      {{2, 19, 9, 9}, {19, 1, 5, 5}, {2, 2}, {}, {2, 2, 2, 2}, 19},
      {{1, 6, 9, 9}, {12, 1, 3, 3}, {}, {}, {1, 1, 1, 1}, 6},
      {{1, 12, 9, 10}, {20, 3, 3, 3}, {}, {}, {1, 0, 1, 2}, 4},
      {{1, 8, 17, 17}, {8, 8, 3, 3}, {}, {2, 3}, {2, 3, 2, 3}},
      {{1, 4, 10, 7}, {5, 4, 2, 4}, {3, 1}, {}, {0, 2, 1, 1}},
      {{1, 4, 10, 7}, {5, 4, 2, 3}, {2, 2}, {}, {}, 1, AutoPad::same_upper},
      {{1, 4, 10, 7}, {5, 4, 2, 3}, {2, 2}, {}, {}, 1, AutoPad::same_lower},
      {{1, 4, 10, 7}, {5, 4, 2, 3}, {2, 1}, {}, {}, 1, AutoPad::valid},
      {{2, 6, 31}, {9, 6, 5}, {2}, {}, {2, 2}},
      {{1, 20, 40}, {20, 1, 7}, {}, {2}, {6, 6}, 20},
      {{1, 80, 50}, {24, 80, 3}, {1}, {}, {1, 1}},
      {{1, 3, 5, 6, 7}, {4, 3, 3, 3, 3}, {1, 1, 1}, {}, {1, 1, 1, 1, 1, 1}},
      {{1, 4, 5, 6, 7}, {4, 1, 2, 2, 2}, {2, 1, 2}, {}, {}, 4},
      {{1, 1, 3, 3}, {1, 1, 3, 3}},
      {{0, 3, 9, 9}, {8, 3, 3, 3}},
      {{3, 64, 5, 5}, {33, 64, 3, 3}, {}, {}, {1, 1, 1, 1}},
  };
  return all;
}

TableCase convolution(DType dtype, const Form& f, bool bias, const std::vector<Source>& sources) {
  auto build = [=](GraphMaker& m) {
    const Value x = m.tensor(dtype, f.x, {-2, 2}), w = m.tensor(dtype, f.w, {-2, 2});
    const Value b = bias ? m.tensor(dtype, {f.w[0]}, {-2, 2}) : Value();
    return std::vector<Value>{m.g.conv(x, w, b,
                                       {.strides = f.strides,
                                        .dilations = f.dilations,
                                        .pads = f.pads,
                                        .auto_pad = f.auto_pad,
                                        .group = f.group})};
  };
  return {fmt::format("conv {} {}{}", to_string(dtype), name_of(f), bias ? " bias" : ""), build,
          Closeness::sums, sources};
}

void add_convolutions(Table& table) {
  for (const Form& f : forms()) {
    table.push_back(convolution(DType::f32, f, true, all_sources()));
    table.push_back(convolution(DType::f32, f, false, {Source::plain, Source::constant, Source::symbolic}));
  }
  for (DType dtype : {DType::f16, DType::f64, DType::i32, DType::u8})
    for (const Form& f : forms())
      table.push_back(convolution(dtype, f, is_floating(dtype), plain_and_one_more(table.size())));
}

void add_transposed(Table& table) {
  const std::vector<Form> all = {
      {{1, 3, 5, 6}, {3, 4, 3, 3}},
      {{2, 8, 5, 6}, {8, 5, 4, 4}, {2, 2}, {}, {1, 1, 1, 1}},
      {{1, 16, 7, 7}, {16, 16, 2, 2}, {2, 2}},
      {{1, 6, 5, 5}, {6, 2, 3, 3}, {2, 2}, {}, {1, 1, 1, 1}, 3, AutoPad::none, {1, 1}},
      {{1, 4, 5, 5}, {4, 3, 3, 2}, {1, 2}, {2, 1}, {1, 0, 0, 1}},
      {{1, 4, 5, 5}, {4, 3, 3, 3}, {2, 2}, {}, {}, 1, AutoPad::same_upper},
      {{1, 4, 5, 5}, {4, 3, 3, 3}, {2, 2}, {}, {}, 1, AutoPad::same_lower},
      {{2, 6, 15}, {6, 5, 8}, {4}, {}, {2, 2}},
      {{1, 8, 9}, {8, 1, 4}, {2}, {}, {1, 1}, 8},
      {{1, 16, 11, 9}, {16, 1, 3, 3}, {1, 1}, {5, 1}, {10, 1, 10, 1}, 16},
      {{2, 6, 8, 7}, {6, 2, 2, 3}, {1, 1}, {3, 2}, {1, 2, 0, 1}, 3},
      {{1, 2, 3, 4, 3}, {2, 3, 2, 3, 2}, {2, 1, 2}, {}, {}},
  };
  for (DType dtype : {DType::f32, DType::f16, DType::f64})
    for (const Form& f : all)
      for (bool bias : {true, false}) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.tensor(dtype, f.x), w = m.tensor(dtype, f.w);
          const Value b = bias ? m.tensor(dtype, {f.w[1] * f.group}) : Value();
          return std::vector<Value>{m.g.conv_transpose(x, w, b,
                                                       {.strides = f.strides,
                                                        .dilations = f.dilations,
                                                        .pads = f.pads,
                                                        .auto_pad = f.auto_pad,
                                                        .group = f.group,
                                                        .output_padding = f.output_padding})};
        };
        table.push_back(
            {fmt::format("conv_transpose {} {}{}", to_string(dtype), name_of(f), bias ? " bias" : ""), build,
             Closeness::sums, dtype == DType::f32 ? all_sources() : plain_and_one_more(table.size())});
      }
}

void add_deformed(Table& table) {
  for (bool mask : {false, true})
    for (int64_t group : {1, 2}) {
      auto build = [=](GraphMaker& m) {
        const Value x = m.tensor(DType::f32, {1, 4, 7, 8}), w = m.tensor(DType::f32, {6, 4 / group, 3, 3});
        const Value offset = m.tensor(DType::f32, {1, 2 * 9 * group, 7, 8}, {-1.5, 1.5});
        const Value b = m.tensor(DType::f32, {6});
        const Value factor = mask ? m.tensor(DType::f32, {1, 9 * group, 7, 8}, {0, 1}) : Value();
        return std::vector<Value>{m.g.deform_conv(
            x, w, offset, b, factor, {.pads = {1, 1, 1, 1}, .group = group, .offset_group = group})};
      };
      table.push_back({fmt::format("deform_conv group {}{}", group, mask ? " mask" : ""),
                       build,
                       Closeness::composed,
                       {Source::plain, Source::constant, Source::transposed}});
    }
}

}  // namespace

void add_convolution_cases(Table& table) {
  add_convolutions(table);
  add_transposed(table);
  add_deformed(table);
}

}  // namespace ingot::devices
