#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/dtype.h"

namespace ingot {

// How often a model uses one ONNX op, its functions and bodies included, each written place once.
struct OnnxOpUse {
  std::string domain;  // empty: the standard one
  std::string op;
  int64_t count = 0;
  bool is_function = false;  // of the model itself
  bool supported = false;    // by the importer, or as a function
};

// What an ONNX file says of itself, whether or not all of it can be imported.
struct OnnxModelSummary {
  std::string graph_name;
  int64_t ir_version = 0;
  std::string producer;                   // name and version
  std::map<std::string, int64_t> opsets;  // by domain; empty: the standard one
  std::vector<OnnxOpUse> ops;             // most used first
  int64_t node_count = 0;
  int64_t initializer_count = 0;
  int64_t initializer_elements = 0;
  std::map<std::string, std::string> inputs;   // types by name; those without an initializer
  std::map<std::string, std::string> outputs;  // types by name
  std::map<std::string, std::string> metadata;

  bool all_supported() const;
};

// Throws Error as import_onnx() does for files that cannot be read.
OnnxModelSummary summarize_onnx(const std::string& path);

}  // namespace ingot
