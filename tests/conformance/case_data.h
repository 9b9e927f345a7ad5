#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ingot/graph.h"

namespace ingot::conformance {

// One folder of ONNX test data: a model and one or more sets of inputs with expected outputs.
struct Case {
  std::string name;  // "node/test_abs"
  std::filesystem::path model;
  std::filesystem::path folder;
  double rtol = 1e-3;
  double atol = 1e-7;
};

struct DataSet {
  std::vector<Datum> inputs;                  // in the order of the graph's inputs
  std::vector<std::optional<Datum>> outputs;  // missing where the case gives none
};

// The cases kept in tests/conformance/peer: ops that the ONNX data does not cover, with outputs of ONNX
// Runtime. See tools/make_peer_cases.py.
std::vector<Case> list_peer_cases();

// All cases below the cache folder of fetched models, sorted by name. Empty when the data is not there.
std::vector<Case> list_cases();

std::vector<DataSet> read_data_sets(const Case& test, const Graph& graph);

}  // namespace ingot::conformance
