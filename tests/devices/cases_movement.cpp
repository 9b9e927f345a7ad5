// Ops that move elements, on cells of every width.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

// One type per width of an element, and those that devices treat apart.
const std::vector<DType> kWidths = {DType::f32, DType::f16, DType::i64, DType::u8, DType::boolean, DType::i4};

using Move = std::function<Value(GraphMaker& m, Value x)>;

void add(Table& table, const std::string& what, const Shape& shape, const Move& move,
         const std::vector<DType>& types = kWidths) {
  for (DType dtype : types) {
    auto build = [=](GraphMaker& m) { return std::vector<Value>{move(m, m.tensor(dtype, shape, {0, 7}))}; };
    table.push_back({fmt::format("{} {} {}", what, to_string(dtype), to_string(shape)), build,
                     Closeness::exact, plain_and_one_more(table.size())});
  }
}

void add_transposes(Table& table) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{17, 33}, {1, 0}},
      {{64, 64}, {1, 0}},
      {{3, 7, 19}, {0, 2, 1}},
      {{3, 7, 19}, {2, 0, 1}},
      {{3, 7, 19}, {1, 0, 2}},
      {{3, 7, 19}, {2, 1, 0}},
      {{2, 3, 5, 7}, {0, 2, 3, 1}},
      {{2, 5, 7, 3}, {0, 3, 1, 2}},
      {{2, 9, 4, 8}, {0, 2, 1, 3}},
      {{2, 3, 2, 3, 5}, {4, 1, 3, 0, 2}},
      {{1, 5, 1, 3}, {3, 2, 1, 0}},
      {{0, 4}, {1, 0}},
      {{2, 2, 2, 2, 2, 2}, {5, 3, 1, 0, 2, 4}}};
  for (const auto& [shape, permutation] : cases)
    add(table, fmt::format("transpose to {}", to_string(permutation)), shape,
        [permutation = permutation](GraphMaker& m, Value x) {
          return m.g.transpose(x, {.permutation = permutation});
        });
  add(table, "transpose", {4, 6, 9}, [](GraphMaker& m, Value x) { return m.g.transpose(x); });
}

void add_reshapes(Table& table) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{6, 4}, {3, 8}},        {{2, 3, 5}, {-1}}, {{2, 3, 5}, {0, 15}},
      {{2, 3, 5}, {5, -1, 2}}, {{1}, {}},         {{2, 0, 3}, {0, 7, 0}}};
  for (const auto& [shape, to] : cases)
    add(table, fmt::format("reshape to {}", to_string(to)), shape, [to = to](GraphMaker& m, Value x) {
      return m.g.reshape(x, m.ints(to), {.zero_is_zero = to.size() == 3 && to[1] == 7});
    });
  add(table, "squeeze", {1, 5, 1, 3}, [](GraphMaker& m, Value x) { return m.g.squeeze(x, {}); });
  add(table, "squeeze one", {1, 5, 1, 3},
      [](GraphMaker& m, Value x) { return m.g.squeeze(x, m.ints({-2})); });
  add(table, "unsqueeze", {5, 3}, [](GraphMaker& m, Value x) { return m.g.unsqueeze(x, m.ints({0, -1})); });
  add(table, "shape_of", {5, 3, 2}, [](GraphMaker& m, Value x) { return m.g.shape_of(x); });
  add(table, "shape_of part", {5, 3, 2},
      [](GraphMaker& m, Value x) { return m.g.shape_of(x, {.start = 1, .end = -1}); });
}

void add_repeats(Table& table) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> broadcasts = {
      {{1, 7}, {5, 7}},          {{3, 1}, {3, 19}}, {{1}, {2, 3, 4}},
      {{4, 1, 3}, {2, 1, 5, 1}}, {{}, {9}},         {{1, 3}, {0, 3}}};
  for (const auto& [shape, to] : broadcasts)
    add(table, fmt::format("broadcast_to {}", to_string(to)), shape,
        [to = to](GraphMaker& m, Value x) { return m.g.broadcast_to(x, m.ints(to)); });
  const std::vector<std::pair<Shape, std::vector<int64_t>>> tiles = {
      {{3, 5}, {2, 3}}, {{3, 5}, {1, 4}}, {{2, 3, 4}, {3, 1, 2}}, {{7}, {0}}, {{1, 1, 17}, {4, 3, 1}}};
  for (const auto& [shape, repeats] : tiles)
    add(table, fmt::format("tile {}", to_string(repeats)), shape,
        [repeats = repeats](GraphMaker& m, Value x) { return m.g.tile(x, m.ints(repeats)); });
}

void add_slices(Table& table) {
  struct Part {
    Shape shape;
    std::vector<int64_t> starts, ends, axes, steps;
  };
  const std::vector<Part> parts = {
      {{10, 20}, {2, 3}, {8, 20}, {0, 1}, {1, 1}},
      {{10, 20}, {0}, {INT64_MAX}, {1}, {3}},
      {{10, 20}, {-1}, {INT64_MIN}, {0}, {-1}},
      {{10, 20}, {-1, -2}, {-9, 0}, {1, 0}, {-2, -3}},
      {{4, 5, 33}, {1, -32}, {100, -1}, {0, -1}, {1, 1}},
      {{2, 8, 9, 3}, {1, 0}, {INT64_MAX, INT64_MAX}, {1, 2}, {2, 2}},
      {{6}, {4}, {2}, {0}, {1}},
      {{5, 0}, {1}, {3}, {0}, {1}},
  };
  for (const Part& p : parts)
    add(table,
        fmt::format("slice {} {} {} {}", to_string(p.starts), to_string(p.ends), to_string(p.axes),
                    to_string(p.steps)),
        p.shape, [p](GraphMaker& m, Value x) {
          return m.g.slice(x, m.ints(p.starts), m.ints(p.ends), m.ints(p.axes), m.ints(p.steps));
        });
}

void add_pads(Table& table) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {
      {{5, 7}, {1, 2, 3, 4}}, {{5, 7}, {0, 3, 0, 0}},   {{2, 3, 6, 9}, {0, 0, 1, 2, 0, 0, 2, 1}},
      {{17}, {4, 15}},        {{5, 7}, {-1, 2, 1, -3}}, {{3, 0}, {1, 1, 0, 2}}};
  for (PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::edge, PadMode::wrap})
    for (const auto& [shape, pads] : cases) {
      if (shape.back() == 0 && mode != PadMode::constant) continue;
      add(table, fmt::format("pad {} {}", enum_names<PadMode>()[static_cast<size_t>(mode)], to_string(pads)),
          shape, [pads = pads, mode](GraphMaker& m, Value x) {
            return m.g.pad(x, m.ints(pads), {}, {}, {.mode = mode});
          });
    }
  add(table, "pad with a value", {5, 7},
      [](GraphMaker& m, Value x) {
        return m.g.pad(x, m.ints({2, 3}), m.constant(tensor_of(m.g.dtype(x), {}, {3})), m.ints({-1}));
      },
      {DType::f32, DType::f16, DType::i64, DType::u8});
}

void add_joins(Table& table) {
  for (int64_t axis : {0, 1, 2, -1})
    for (DType dtype : kWidths)
      for (const Source source : {Source::plain, Source::sliced, Source::transposed, Source::computed}) {
        auto build = [=](GraphMaker& m) {
          std::vector<Value> parts;
          for (int64_t size : {3, 1, 8, 0}) {
            Shape shape = {2, 5, 7};
            shape[static_cast<size_t>(axis < 0 ? axis + 3 : axis)] = size;
            parts.push_back(m.tensor(dtype, shape, {0, 7}));
          }
          return std::vector<Value>{m.g.concat(parts, {.axis = axis})};
        };
        table.push_back(
            {fmt::format("concat {} axis {}", to_string(dtype), axis), build, Closeness::exact, {source}});
      }
  for (int64_t axis : {0, 1, -1})
    for (DType dtype : kWidths) {
      auto build = [=](GraphMaker& m) {
        Shape shape = {4, 6, 9};
        const int64_t size = shape[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
        return m.g.split(m.tensor(dtype, shape, {0, 7}), m.ints({1, size - 3, 2}), 3, {.axis = axis});
      };
      table.push_back({fmt::format("split {} axis {}", to_string(dtype), axis), build, Closeness::exact,
                       plain_and_one_more(table.size())});
    }
  for (DType dtype : {DType::f32, DType::f16, DType::i64, DType::u8}) {
    auto build = [=](GraphMaker& m) {
      return m.g.split(m.tensor(dtype, {4, 6, 9}, {0, 7}), {}, 3, {.axis = 1});
    };
    table.push_back(
        {fmt::format("split {} in equal parts", to_string(dtype)), build, Closeness::exact, all_sources()});
  }
}

void add_ranges(Table& table) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::i32, DType::i16})
    for (const auto& [start, limit, step] :
         std::vector<std::array<double, 3>>{{0, 17, 1}, {10, -7, -3}, {5, 5, 1}, {1, 100, 2}}) {
      auto build = [=, start = start, limit = limit, step = step](GraphMaker& m) {
        auto scalar = [&](double value) { return m.input(tensor_of(dtype, {}, {value})); };
        const Value a = scalar(start), b = scalar(limit), c = scalar(step);
        return std::vector<Value>{m.g.range(a, b, c)};
      };
      table.push_back({fmt::format("range {} {} {} {}", to_string(dtype), start, limit, step), build});
    }
}

}  // namespace

void add_movement_cases(Table& table) {
  add_transposes(table);
  add_reshapes(table);
  add_repeats(table);
  add_slices(table);
  add_pads(table);
  add_joins(table);
  add_ranges(table);
}

}  // namespace ingot::devices
