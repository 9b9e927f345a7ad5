#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/devices/compare.h"
#include "tests/devices/graph_maker.h"

namespace ingot::devices {

// One op on one set of types, shapes and attributes. `build` adds it to a graph and returns its results; it
// is called more than once and must make the same graph each time.
struct TableCase {
  std::string name;
  std::function<std::vector<Value>(GraphMaker&)> build;
  Closeness closeness = Closeness::exact;
  std::vector<Source> sources = {Source::plain};
};

using Table = std::vector<TableCase>;

// All cases. Every op that computes occurs; a test checks it.
Table make_table();

// One per file of cases.
void add_pointwise_cases(Table& table);
void add_special_value_cases(Table& table);
void add_cast_cases(Table& table);
void add_movement_cases(Table& table);
void add_indexing_cases(Table& table);
void add_reduction_cases(Table& table);
void add_search_cases(Table& table);
void add_matmul_cases(Table& table);
void add_convolution_cases(Table& table);
void add_pooling_cases(Table& table);
void add_norm_cases(Table& table);
void add_attention_cases(Table& table);
void add_recurrent_cases(Table& table);
void add_quantization_cases(Table& table);
void add_image_cases(Table& table);
void add_signal_cases(Table& table);
void add_random_cases(Table& table);
void add_sequence_cases(Table& table);
void add_text_cases(Table& table);
void add_control_cases(Table& table);

// The sources that change how an operand lies in memory, one after the other over the cases of a family, so
// that each meets every op.
std::vector<Source> plain_and_one_more(size_t turn);
std::vector<Source> plain_and_two_more(size_t turn);
const std::vector<Source>& all_sources();

}  // namespace ingot::devices
