// Gather and scatter in all forms.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

const std::vector<DType> kTypes = {DType::f32, DType::f16, DType::i64, DType::u8, DType::boolean};

std::string_view name_of(Reduction reduction) {
  return enum_names<Reduction>()[static_cast<size_t>(reduction)];
}

// Indices into an axis of `size`, half of them counted from the end.
Value indices(GraphMaker& m, DType dtype, const Shape& shape, int64_t size) {
  return m.input(
      random_tensor(m.random, dtype, shape, {static_cast<double>(-size), static_cast<double>(size - 1)}));
}

void add_gathers(Table& table) {
  struct Form {
    Shape x, indices;
    int64_t axis;
  };
  const std::vector<Form> forms = {{{9, 17}, {5}, 0}, {{9, 17}, {5}, 1}, {{9, 17}, {2, 3}, 0},
                                   {{9, 17}, {}, 0},  {{9, 17}, {}, -1}, {{4, 6, 5}, {3, 2}, 1},
                                   {{30}, {4, 4}, 0}, {{9, 3}, {0}, 0},  {{100, 64}, {1, 12}, 0}};
  for (DType dtype : kTypes)
    for (DType index : {DType::i64, DType::i32})
      for (const Form& f : forms) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.tensor(dtype, f.x, {0, 7});
          const auto axis =
              static_cast<size_t>(f.axis < 0 ? f.axis + static_cast<int64_t>(f.x.size()) : f.axis);
          return std::vector<Value>{m.g.gather(x, indices(m, index, f.indices, f.x[axis]), {.axis = f.axis})};
        };
        table.push_back({fmt::format("gather {} {} {} by {} axis {}", to_string(dtype), to_string(f.x),
                                     to_string(index), to_string(f.indices), f.axis),
                         build, Closeness::exact, plain_and_one_more(table.size())});
      }
}

// Constant indices that go up or down evenly along their axes name a slice with steps; others do not.
void add_constant_gathers(Table& table) {
  struct Form {
    const char* name;
    Shape x, shape;
    std::vector<int64_t> indices;
    int64_t axis;
  };
  const std::vector<Form> forms = {
      {"strided", {9, 17}, {3}, {1, 4, 7}, 0},
      {"strided along the last axis", {9, 17}, {4}, {2, 6, 10, 14}, 1},
      {"backwards", {9, 17}, {3}, {16, -5, 8}, -1},
      {"backwards to the first", {9, 17}, {9}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, 0},
      {"overlapping windows", {4, 9, 5}, {3, 4}, {0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7}, 1},
      {"windows of one", {4, 9, 5}, {3, 1, 2}, {8, 6, 5, 3, 2, 0}, 1},
      {"one in all places", {9, 17}, {2, 2}, {-3, -3, 6, 6}, 0},
      {"one", {9, 17}, {}, {-9}, 0},
      {"none", {9, 17}, {2, 0}, {}, 0},
      {"uneven at the end", {9, 17}, {4}, {1, 3, 5, 8}, 0},
      {"uneven across rows", {30}, {3, 2}, {0, 1, 2, 3, 5, 6}, 0},
      {"uneven within a row", {30}, {2, 3}, {0, 1, 2, 10, 12, 11}, 0}};
  for (DType dtype : kTypes)
    for (const Form& f : forms) {
      auto build = [=](GraphMaker& m) {
        const Value x = m.tensor(dtype, f.x, {0, 7});
        const Value places = m.constant(Tensor::of(f.shape, f.indices));
        const Value taken = m.g.gather(x, places, {.axis = f.axis});
        return std::vector<Value>{taken, m.g.cast(taken, {.to = DType::f64})};
      };
      table.push_back({fmt::format("gather {} by constants, {}", to_string(dtype), f.name), build,
                       Closeness::exact, plain_and_one_more(table.size())});
    }
}

void add_element_gathers(Table& table) {
  for (DType dtype : kTypes)
    for (int64_t axis : {0, 1, -1}) {
      auto build = [=](GraphMaker& m) {
        const Value x = m.tensor(dtype, {5, 9, 7}, {0, 7});
        const int64_t size = axis == 0 ? 5 : axis == 1 ? 9 : 7;
        return std::vector<Value>{
            m.g.gather_elements(x, indices(m, DType::i64, {5, 6, 7}, size), {.axis = axis})};
      };
      table.push_back({fmt::format("gather_elements {} axis {}", to_string(dtype), axis), build,
                       Closeness::exact, plain_and_one_more(table.size())});
    }
  for (DType dtype : kTypes)
    for (int64_t batch : {0, 1}) {
      auto build = [=](GraphMaker& m) {
        const Value x = m.tensor(dtype, {4, 4, 4, 3}, {0, 7});
        return std::vector<Value>{
            m.g.gather_nd(x, indices(m, DType::i64, {4, 5, 2}, 4), {.batch_axes = batch})};
      };
      table.push_back({fmt::format("gather_nd {} batch axes {}", to_string(dtype), batch), build,
                       Closeness::exact, plain_and_one_more(table.size())});
    }
}

// Without a reduction the indices are distinct, since the order of writes is not defined.
Tensor distinct_indices(GraphMaker& m, const Shape& shape, size_t axis, int64_t size) {
  std::vector<double> out(static_cast<size_t>(element_count(shape)));
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t shift = m.random.below(size);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<double>((static_cast<int64_t>(i) / inner % shape[axis] + shift) % size);
  return tensor_of(DType::i64, shape, out);
}

void add_scatters(Table& table) {
  for (DType dtype : {DType::f32, DType::f16, DType::i64, DType::i32, DType::u8})
    for (Reduction reduction :
         {Reduction::none, Reduction::add, Reduction::mul, Reduction::min, Reduction::max})
      for (size_t axis : {0u, 1u, 2u}) {
        auto build = [=](GraphMaker& m) {
          const Shape shape = {4, 9, 5};
          Shape part = shape;
          part[axis] -= 1;
          const Value x = m.tensor(dtype, shape, {0, 3});
          const Value at = reduction == Reduction::none
                               ? m.input(distinct_indices(m, part, axis, shape[axis]))
                               : indices(m, DType::i64, part, shape[axis]);
          const Value updates = m.tensor(dtype, part, {0, 3});
          return std::vector<Value>{m.g.scatter_elements(
              x, at, updates, {.axis = static_cast<int64_t>(axis), .reduction = reduction})};
        };
        const bool sums = reduction == Reduction::add || reduction == Reduction::mul;
        table.push_back(
            {fmt::format("scatter_elements {} {} axis {}", to_string(dtype), name_of(reduction), axis), build,
             sums ? Closeness::composed : Closeness::exact, plain_and_one_more(table.size())});
      }
}

void add_nd_scatters(Table& table) {
  for (DType dtype : {DType::f32, DType::f16, DType::i64, DType::i32})
    for (Reduction reduction : {Reduction::none, Reduction::add, Reduction::max}) {
      auto build = [=](GraphMaker& m) {
        const Value x = m.tensor(dtype, {8, 6, 3}, {0, 3});
        const Value at = m.constant(tensor_of(DType::i64, {4, 2}, {0, 5, 7, -1, 3, 3, 2, 0}));
        const Value updates = m.tensor(dtype, {4, 3}, {0, 3});
        return std::vector<Value>{m.g.scatter_nd(x, at, updates, {.reduction = reduction})};
      };
      table.push_back({fmt::format("scatter_nd {} {}", to_string(dtype), name_of(reduction)), build,
                       Closeness::rounding, plain_and_one_more(table.size())});
    }
}

// Indices as exporters write them for an assignment to a slice, and some that only look like it.
void add_slice_updates(Table& table) {
  struct Form {
    const char* name;
    Shape indices;
    std::vector<int64_t> values;
    Shape updates;
  };
  const std::vector<Form> forms = {
      {"rows", {2, 1}, {3, 4}, {2, 6, 3}},
      {"backwards", {3, 1}, {7, 5, 3}, {3, 6, 3}},
      {"from the end", {2, 1}, {-2, -1}, {2, 6, 3}},
      {"one", {1}, {5}, {6, 3}},
      {"elements", {2, 2, 3}, {1, 2, 0, 1, 2, 2, 5, 2, 0, 5, 2, 2}, {2, 2}},
      {"transposed", {2, 3, 2}, {0, 4, 2, 4, 4, 4, 0, 5, 2, 5, 4, 5}, {2, 3, 3}},
      {"repeated", {3, 1}, {2, 2, 2}, {3, 6, 3}},
      {"diagonal", {3, 2}, {0, 0, 1, 1, 2, 2}, {3, 3}},
      {"uneven", {3, 1}, {0, 1, 3}, {3, 6, 3}},
  };
  for (DType dtype : {DType::f32, DType::i64, DType::u8})
    for (const Form& f : forms) {
      auto build = [=](GraphMaker& m) {
        std::vector<double> values(f.values.begin(), f.values.end());
        const Value at = m.constant(tensor_of(DType::i64, f.indices, values));
        return std::vector<Value>{
            m.g.scatter_nd(m.tensor(dtype, {8, 6, 3}), at, m.tensor(dtype, f.updates), {})};
      };
      table.push_back({fmt::format("scatter_nd {} {}", to_string(dtype), f.name), build, Closeness::exact,
                       dtype == DType::f32 ? all_sources() : plain_and_one_more(table.size())});
    }
}

}  // namespace

void add_indexing_cases(Table& table) {
  add_gathers(table);
  add_constant_gathers(table);
  add_element_gathers(table);
  add_scatters(table);
  add_nd_scatters(table);
  add_slice_updates(table);
}

}  // namespace ingot::devices
