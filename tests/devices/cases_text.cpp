// Text: devices carry it, whoever computes it.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

Value words(GraphMaker& m, const Shape& shape, const std::vector<std::string>& elements) {
  return m.input(Tensor::of_strings(shape, elements));
}

}  // namespace

void add_text_cases(Table& table) {
  table.push_back({"string_concat", [](GraphMaker& m) {
                     return std::vector<Value>{m.g.string_concat(words(m, {2, 1}, {"a", ""}),
                                                                 words(m, {3}, {"x", "yy", "\xc3\xa9"}))};
                   }});
  table.push_back({"string_split", [](GraphMaker& m) {
                     const auto [pieces, counts] =
                         m.g.string_split(words(m, {3}, {"a,b,c", "", "d"}), {.delimiter = ","});
                     return std::vector<Value>{pieces, counts};
                   }});
  table.push_back({"string_normalize", [](GraphMaker& m) {
                     return std::vector<Value>{
                         m.g.string_normalize(words(m, {3}, {"One", "TWO", "three"}),
                                              {.case_action = CaseAction::lower, .stop_words = {"two"}})};
                   }});
  table.push_back({"regex_full_match", [](GraphMaker& m) {
                     return std::vector<Value>{
                         m.g.regex_full_match(words(m, {3}, {"a1", "b", "c22"}), {.pattern = "[a-z][0-9]+"})};
                   }});
  table.push_back({"tf_idf",
                   [](GraphMaker& m) {
                     return std::vector<Value>{m.g.tf_idf(m.tensor(DType::i64, {2, 12}, {0, 4}),
                                                          {.min_length = 1,
                                                           .max_length = 2,
                                                           .max_skip = 1,
                                                           .gram_counts = {0, 3},
                                                           .gram_indexes = {0, 1, 2, 3, 4},
                                                           .pool_numbers = {1, 2, 3, 1, 2, 2, 3}})};
                   },
                   Closeness::exact,
                   {Source::plain, Source::transposed, Source::symbolic}});
  table.push_back(
      {"movement of text", [](GraphMaker& m) {
         const Value x = words(m, {2, 3}, {"a", "b", "c", "d", "e", "f"});
         const Value joined = m.g.concat({x, m.g.transpose(m.g.reshape(x, m.ints({3, 2})))}, {.axis = 0});
         return std::vector<Value>{joined, m.g.gather(joined, m.ints({2, 0})),
                                   m.g.equal(x, words(m, {}, {"c"}))};
       }});
}

}  // namespace ingot::devices
