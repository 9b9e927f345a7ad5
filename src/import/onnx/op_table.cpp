#include "import/onnx/op_table.h"

namespace ingot {

const OnnxOpTable& onnx_op_table() {
  static const OnnxOpTable table = [] {
    OnnxOpTable t;
    add_onnx_activations(t);
    add_onnx_attention(t);
    add_onnx_cast(t);
    add_onnx_contraction(t);
    add_onnx_control_flow(t);
    add_onnx_gradient(t);
    add_onnx_image(t);
    add_onnx_indexing(t);
    add_onnx_layout(t);
    add_onnx_losses(t);
    add_onnx_microsoft(t);
    add_onnx_microsoft_attention(t);
    add_onnx_ml(t);
    add_onnx_movement(t);
    add_onnx_normalization(t);
    add_onnx_pointwise(t);
    add_onnx_quantization(t);
    add_onnx_quantized_microsoft(t);
    add_onnx_random(t);
    add_onnx_recurrent(t);
    add_onnx_reduce(t);
    add_onnx_selection(t);
    add_onnx_sequence(t);
    add_onnx_signal(t);
    add_onnx_text(t);
    add_onnx_training(t);
    add_onnx_trees(t);
    add_onnx_window(t);
    add_onnx_windows(t);
    return t;
  }();
  return table;
}

}  // namespace ingot
