// Sequences and optionals.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

const std::vector<Source> kSources = {Source::plain, Source::computed, Source::transposed, Source::sliced,
                                      Source::symbolic};

Value position(GraphMaker& m, int64_t value) { return m.input(Tensor::of<int64_t>({}, {value})); }

void add_edits(Table& table) {
  auto construct = [](GraphMaker& m) {
    return m.g.sequence_construct(
        {m.tensor(DType::f32, {3, 5}), m.tensor(DType::f32, {3, 5}), m.tensor(DType::f32, {3, 5})});
  };
  table.push_back(
      {"sequence_construct and sequence_at",
       [=](GraphMaker& m) {
         const Value s = construct(m);
         return std::vector<Value>{s, m.g.sequence_at(s, position(m, -2)), m.g.sequence_length(s)};
       },
       Closeness::exact, kSources});
  table.push_back({"sequence_insert and sequence_erase",
                   [=](GraphMaker& m) {
                     const Value s = construct(m), x = m.tensor(DType::f32, {3, 5});
                     const Value more = m.g.sequence_insert(s, x, position(m, 1));
                     return std::vector<Value>{more, m.g.sequence_insert(s, x, {}),
                                               m.g.sequence_erase(more, position(m, 0)),
                                               m.g.sequence_erase(s, {})};
                   },
                   Closeness::exact, kSources});
  table.push_back({"sequence_empty",
                   [](GraphMaker& m) {
                     const Value s = m.g.sequence_insert(m.g.sequence_empty({.element = DType::i64}),
                                                         m.tensor(DType::i64, {4}), {});
                     return std::vector<Value>{m.g.sequence_empty(), s};
                   },
                   Closeness::exact, kSources});
}

void add_joins(Table& table) {
  for (bool new_axis : {false, true})
    table.push_back(
        {fmt::format("concat_from_sequence{}", new_axis ? " new_axis" : ""),
         [=](GraphMaker& m) {
           const Value s =
               m.g.sequence_construct({m.tensor(DType::f32, {3, 5}), m.tensor(DType::f32, {3, 5})});
           return std::vector<Value>{m.g.concat_from_sequence(s, {.axis = 1, .new_axis = new_axis})};
         },
         Closeness::exact, kSources});
  for (bool keep : {false, true})
    table.push_back({fmt::format("split_to_sequence{}", keep ? " keep_axis" : ""),
                     [=](GraphMaker& m) {
                       const Value x = m.tensor(DType::f32, {4, 6});
                       return std::vector<Value>{m.g.split_to_sequence(x, {}, {.axis = 0, .keep_axis = keep}),
                                                 m.g.split_to_sequence(x, m.ints({1, 5}), {.axis = 1})};
                     },
                     Closeness::exact, kSources});
}

}  // namespace

void add_sequence_cases(Table& table) {
  add_edits(table);
  add_joins(table);
  table.push_back({"optionals",
                   [](GraphMaker& m) {
                     const Value x = m.g.optional_of(m.tensor(DType::f32, {3, 5}));
                     return std::vector<Value>{x, m.g.optional_get(x), m.g.optional_has(x),
                                               m.g.optional_has(m.g.optional_empty()),
                                               m.g.optional_empty({.sequence = true})};
                   },
                   Closeness::exact, kSources});
}

}  // namespace ingot::devices
