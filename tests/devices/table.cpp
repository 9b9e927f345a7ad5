#include "tests/devices/table.h"

namespace ingot::devices {

const std::vector<Source>& all_sources() {
  static const std::vector<Source> all = {
      Source::plain,  Source::constant, Source::symbolic,     Source::computed, Source::transposed,
      Source::sliced, Source::reversed, Source::concatenated, Source::repeated, Source::reshaped};
  return all;
}

std::vector<Source> plain_and_one_more(size_t turn) {
  const auto& all = all_sources();
  return {Source::plain, all[1 + turn % (all.size() - 1)]};
}

std::vector<Source> plain_and_two_more(size_t turn) {
  std::vector<Source> sources = plain_and_one_more(turn);
  sources.push_back(plain_and_one_more(turn + 4).back());
  return sources;
}

Table make_table() {
  Table table;
  add_pointwise_cases(table);
  add_special_value_cases(table);
  add_cast_cases(table);
  add_movement_cases(table);
  add_indexing_cases(table);
  add_reduction_cases(table);
  add_search_cases(table);
  add_matmul_cases(table);
  add_convolution_cases(table);
  add_pooling_cases(table);
  add_norm_cases(table);
  add_attention_cases(table);
  add_recurrent_cases(table);
  add_quantization_cases(table);
  add_image_cases(table);
  add_signal_cases(table);
  add_random_cases(table);
  add_sequence_cases(table);
  add_text_cases(table);
  add_control_cases(table);
  return table;
}

}  // namespace ingot::devices
