#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

std::vector<Value> string_concat(OnnxNodeContext& c) { return {c.g().string_concat(c.in(0), c.in(1))}; }

std::vector<Value> string_split(OnnxNodeContext& c) {
  auto out = c.g().string_split(
      c.in(0), {.delimiter = c.text_attr("delimiter", ""), .max_split = c.int_attr("maxsplit", -1)});
  return {out[0], out[1]};
}

std::vector<Value> string_normalizer(OnnxNodeContext& c) {
  auto action = c.enum_attr<CaseAction>(
      "case_change_action", "NONE",
      {{"NONE", CaseAction::none}, {"LOWER", CaseAction::lower}, {"UPPER", CaseAction::upper}});
  return {c.g().string_normalize(c.in(0), {.case_action = action,
                                           .case_sensitive = c.flag_attr("is_case_sensitive", false),
                                           .stop_words = c.texts_attr("stopwords")})};
}

std::vector<Value> regex_full_match(OnnxNodeContext& c) {
  return {c.g().regex_full_match(c.in(0), {.pattern = c.text_attr("pattern", "")})};
}

std::vector<Value> tf_idf(OnnxNodeContext& c) {
  TfIdfAttrs attrs{
      .mode = c.enum_attr<TfIdfMode>(
          "mode", "", {{"TF", TfIdfMode::tf}, {"IDF", TfIdfMode::idf}, {"TFIDF", TfIdfMode::tfidf}}),
      .min_length = c.int_attr("min_gram_length"),
      .max_length = c.int_attr("max_gram_length"),
      .max_skip = c.int_attr("max_skip_count"),
      .gram_counts = c.ints_attr("ngram_counts"),
      .gram_indexes = c.ints_attr("ngram_indexes"),
      .pool_numbers = c.ints_attr("pool_int64s"),
      .pool_texts = c.texts_attr("pool_strings"),
      .weights = c.floats_attr("weights")};
  return {c.g().tf_idf(c.in(0), std::move(attrs))};
}

}  // namespace

void add_onnx_text(OnnxOpTable& t) {
  t[{"", "StringConcat"}] = {.import = string_concat, .first_opset = 20};
  t[{"", "StringSplit"}] = {
      .import = string_split, .first_opset = 20, .limits = "without a delimiter: ASCII blanks"};
  t[{"", "StringNormalizer"}] = {
      .import = string_normalizer,
      .first_opset = 10,
      .limits = "case of Latin, Greek and Cyrillic letters only; the locale is ignored"};
  t[{"", "RegexFullMatch"}] = {.import = regex_full_match, .first_opset = 20};
  t[{"", "TfIdfVectorizer"}] = {.import = tf_idf, .first_opset = 9};
}

}  // namespace ingot
