#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

class OnnxNodeContext;

// Adds what one ONNX node means to the graph and returns one value per output, at least as many as are
// wanted.
using OnnxImporter = std::vector<Value> (*)(OnnxNodeContext&);

// One row of the coverage table: `docs/onnx_coverage.md` is generated from these.
struct OnnxOpEntry {
  OnnxImporter import = nullptr;
  int first_opset = 1;           // of its domain
  std::string_view types = {};   // element types of the main operand, where fewer than the op table allows
  std::string_view limits = {};  // what is not supported, in words; empty: nothing known
};

// Domain ("" is the standard one, "com.microsoft" ...) and op type.
using OnnxOpKey = std::pair<std::string_view, std::string_view>;
using OnnxOpTable = std::map<OnnxOpKey, OnnxOpEntry>;

const OnnxOpTable& onnx_op_table();

// One per file of importer functions.
void add_onnx_activations(OnnxOpTable& table);
void add_onnx_attention(OnnxOpTable& table);
void add_onnx_cast(OnnxOpTable& table);
void add_onnx_contraction(OnnxOpTable& table);
void add_onnx_control_flow(OnnxOpTable& table);
void add_onnx_gradient(OnnxOpTable& table);
void add_onnx_image(OnnxOpTable& table);
void add_onnx_indexing(OnnxOpTable& table);
void add_onnx_layout(OnnxOpTable& table);
void add_onnx_losses(OnnxOpTable& table);
void add_onnx_microsoft(OnnxOpTable& table);
void add_onnx_microsoft_attention(OnnxOpTable& table);
void add_onnx_ml(OnnxOpTable& table);
void add_onnx_movement(OnnxOpTable& table);
void add_onnx_normalization(OnnxOpTable& table);
void add_onnx_pointwise(OnnxOpTable& table);
void add_onnx_quantization(OnnxOpTable& table);
void add_onnx_quantized_microsoft(OnnxOpTable& table);
void add_onnx_random(OnnxOpTable& table);
void add_onnx_recurrent(OnnxOpTable& table);
void add_onnx_reduce(OnnxOpTable& table);
void add_onnx_selection(OnnxOpTable& table);
void add_onnx_sequence(OnnxOpTable& table);
void add_onnx_signal(OnnxOpTable& table);
void add_onnx_text(OnnxOpTable& table);
void add_onnx_training(OnnxOpTable& table);
void add_onnx_trees(OnnxOpTable& table);
void add_onnx_window(OnnxOpTable& table);
void add_onnx_windows(OnnxOpTable& table);

}  // namespace ingot
