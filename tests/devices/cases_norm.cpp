// Softmax and the norms.
#include <cmath>

#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

const std::vector<Shape> kShapes = {{7},    {5, 67},  {3, 9, 17}, {2, 4, 6, 33},
                                    {1, 1}, {2, 129}, {3, 1000},  {4, 8, 3}};
const std::vector<DType> kTypes = {DType::f32, DType::f16, DType::bf16, DType::f64};

using Norm = std::function<std::vector<Value>(GraphMaker& m, DType dtype, const Shape& shape)>;

void add(Table& table, const std::string& what, const std::vector<Shape>& shapes, const Norm& norm) {
  for (DType dtype : kTypes)
    for (const Shape& shape : shapes) {
      auto build = [=](GraphMaker& m) { return norm(m, dtype, shape); };
      table.push_back(
          {fmt::format("{} {} {}", what, to_string(dtype), to_string(shape)), build, Closeness::composed,
           dtype == DType::f32 ? plain_and_two_more(table.size()) : plain_and_one_more(table.size())});
    }
}

void add_softmaxes(Table& table) {
  for (int64_t axis : {0, -1}) {
    add(table, fmt::format("softmax axis {}", axis), kShapes,
        [axis](GraphMaker& m, DType dtype, const Shape& shape) {
          return std::vector<Value>{m.g.softmax(m.tensor(dtype, shape, {-8, 8}), {.axis = axis})};
        });
    add(table, fmt::format("log_softmax axis {}", axis), kShapes,
        [axis](GraphMaker& m, DType dtype, const Shape& shape) {
          return std::vector<Value>{m.g.log_softmax(m.tensor(dtype, shape, {-8, 8}), {.axis = axis})};
        });
  }
  for (double special : std::vector<double>{-INFINITY, INFINITY, NAN, 1e30, -1e30}) {
    auto build = [=](GraphMaker& m) {
      std::vector<double> x(3 * 21, 0.25);
      x[4] = x[5] = special;
      for (size_t i = 42; i < 63; ++i) x[i] = special;  // a whole row
      const Value v = m.input(tensor_of(DType::f32, {3, 21}, x));
      return std::vector<Value>{m.g.softmax(v), m.g.log_softmax(v)};
    };
    table.push_back({fmt::format("softmax and log_softmax of {}", special), build, Closeness::composed});
  }
}

Shape tail(const Shape& shape, int64_t axis) { return {shape.end() + axis, shape.end()}; }

void add_layer_norms(Table& table) {
  for (int64_t axis : {-1, -2}) {
    std::vector<Shape> shapes;
    for (const Shape& shape : kShapes)
      if (static_cast<int64_t>(shape.size()) >= -axis) shapes.push_back(shape);
    add(table, fmt::format("layer_norm axis {}", axis), shapes,
        [axis](GraphMaker& m, DType dtype, const Shape& shape) {
          const Value x = m.tensor(dtype, shape), scale = m.tensor(dtype, tail(shape, axis)),
                      bias = m.tensor(dtype, tail(shape, axis));
          return std::vector<Value>{m.g.layer_norm(x, scale, bias, {.axis = axis, .epsilon = 1e-3})[0]};
        });
    add(table, fmt::format("rms_norm axis {}", axis), shapes,
        [axis](GraphMaker& m, DType dtype, const Shape& shape) {
          const Value x = m.tensor(dtype, shape), scale = m.tensor(dtype, tail(shape, axis));
          return std::vector<Value>{m.g.rms_norm(x, scale, {.axis = axis, .epsilon = 1e-3})[0]};
        });
  }
  add(table, "layer_norm with statistics", {{5, 67}}, [](GraphMaker& m, DType dtype, const Shape& shape) {
    const Value x = m.tensor(dtype, shape), scale = m.tensor(dtype, {shape.back()});
    const auto parts = m.g.layer_norm(x, scale, {}, {.epsilon = 1e-3});
    return std::vector<Value>(parts.begin(), parts.end());
  });
  add(table, "lp_norm 1", kShapes, [](GraphMaker& m, DType dtype, const Shape& shape) {
    return std::vector<Value>{m.g.lp_norm(m.tensor(dtype, shape, {0.5, 2}), {.p = 1})};
  });
  add(table, "lp_norm 2 axis 0", kShapes, [](GraphMaker& m, DType dtype, const Shape& shape) {
    return std::vector<Value>{m.g.lp_norm(m.tensor(dtype, shape, {0.5, 2}), {.axis = 0})};
  });
}

void add_channel_norms(Table& table) {
  const std::vector<Shape> images = {
      {2, 6, 5, 7}, {1, 16, 9, 9}, {3, 12, 17}, {1, 4, 3, 4, 5}, {2, 20, 1, 1}};
  add(table, "batch_norm", images, [](GraphMaker& m, DType dtype, const Shape& shape) {
    const Value x = m.tensor(dtype, shape);
    auto channel = [&](Range range) { return m.tensor(dtype, {shape[1]}, range); };
    const Value scale = channel({0.5, 2}), bias = channel({-1, 1}), mean = channel({-1, 1}),
                variance = channel({0.5, 2});
    return std::vector<Value>{m.g.batch_norm(x, scale, bias, mean, variance)};
  });
  add(table, "instance_norm", images, [](GraphMaker& m, DType dtype, const Shape& shape) {
    const Value x = m.tensor(dtype, shape), scale = m.tensor(dtype, {shape[1]}),
                bias = m.tensor(dtype, {shape[1]});
    return std::vector<Value>{m.g.instance_norm(x, scale, bias, {.epsilon = 1e-3})};
  });
  add(table, "group_norm", images, [](GraphMaker& m, DType dtype, const Shape& shape) {
    const Value x = m.tensor(dtype, shape), scale = m.tensor(dtype, {shape[1]}),
                bias = m.tensor(dtype, {shape[1]});
    return std::vector<Value>{m.g.group_norm(x, scale, bias, {.groups = 2, .epsilon = 1e-3})};
  });
  add(table, "lrn", images, [](GraphMaker& m, DType dtype, const Shape& shape) {
    return std::vector<Value>{
        m.g.lrn(m.tensor(dtype, shape), {.size = 3, .alpha = 0.1, .beta = 0.75, .bias = 1})};
  });
}

}  // namespace

void add_norm_cases(Table& table) {
  add_softmaxes(table);
  add_layer_norms(table);
  add_channel_norms(table);
}

}  // namespace ingot::devices
