// Sorting and searching.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

void add_top_k(Table& table) {
  for (DType dtype : {DType::f32, DType::f16, DType::i64, DType::i32, DType::u8})
    for (int64_t axis : {0, 1, -1})
      for (bool largest : {true, false})
        for (int64_t k : {1, 3, 4}) {
          auto build = [=](GraphMaker& m) {
            const Value x = m.g.cast(m.tensor(DType::i32, {4, 6, 9}, {0, 20}), {.to = dtype});
            const auto [values, indices] = m.g.top_k(x, m.ints({k}), {.axis = axis, .largest = largest});
            return std::vector<Value>{values, indices};
          };
          table.push_back({fmt::format("top_k {} axis {} k {} {}", to_string(dtype), axis, k,
                                       largest ? "largest" : "smallest"),
                           build, Closeness::exact, plain_and_one_more(table.size())});
        }
}

void add_non_zero_and_unique(Table& table) {
  for (DType dtype : {DType::f32, DType::i64, DType::u8, DType::boolean}) {
    for (const Shape& shape : {Shape{}, Shape{41}, Shape{5, 7}, Shape{2, 0}, Shape{3, 4, 5}}) {
      auto build = [=](GraphMaker& m) {
        return std::vector<Value>{m.g.non_zero(m.g.cast(m.tensor(DType::i32, shape, {0, 2}), {.to = dtype}))};
      };
      table.push_back({fmt::format("non_zero {} {}", to_string(dtype), to_string(shape)), build,
                       Closeness::exact, plain_and_one_more(table.size())});
    }
    for (bool flat : {true, false})
      for (bool sorted : {true, false}) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.g.cast(m.tensor(DType::i32, {7, 3}, {0, 2}), {.to = dtype});
          const auto parts = m.g.unique(x, {.flat = flat, .axis = 0, .sorted = sorted});
          return std::vector<Value>(parts.begin(), parts.end());
        };
        table.push_back(
            {fmt::format("unique {}{}{}", to_string(dtype), flat ? " flat" : "", sorted ? " sorted" : ""),
             build, Closeness::exact, plain_and_one_more(table.size())});
      }
  }
}

void add_lookups(Table& table) {
  auto numbers = [](GraphMaker& m) {
    const Value x = m.tensor(DType::i64, {5, 9}, {0, 6}), keys = m.ints({1, 4, 5});
    return std::vector<Value>{m.g.lookup(x, keys, m.reals({0.5, 1.5, 2.5}), m.reals({-1}))};
  };
  table.push_back({"lookup of numbers", numbers, Closeness::exact, all_sources()});
  auto words = [](GraphMaker& m) {
    const Value x = m.input(Tensor::of_strings({4}, {"a", "b", "", "c"}));
    const Value keys = m.constant(Tensor::of_strings({2}, {"a", "c"}));
    return std::vector<Value>{m.g.lookup(x, keys, m.ints({10, 20}), m.ints({0}))};
  };
  table.push_back({"lookup of words", words});
}

void add_suppressions(Table& table) {
  for (bool centred : {false, true})
    for (int64_t most : {1, 4, 20}) {
      auto build = [=](GraphMaker& m) {
        const Value boxes = m.tensor(DType::f32, {2, 30, 4}, {0, 1}),
                    scores = m.tensor(DType::f32, {2, 3, 30}, {0, 1});
        return std::vector<Value>{m.g.non_max_suppression(boxes, scores, m.ints({most}), m.reals({0.3F}),
                                                          m.reals({0.2F}), {.centred = centred})};
      };
      table.push_back({fmt::format("non_max_suppression {}{}", most, centred ? " centred" : ""), build,
                       Closeness::exact, plain_and_one_more(table.size())});
    }
}

}  // namespace

void add_search_cases(Table& table) {
  add_top_k(table);
  add_non_zero_and_unique(table);
  add_lookups(table);
  add_suppressions(table);
}

}  // namespace ingot::devices
