#include <numbers>

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

// a0 - a1 cos t + a2 cos 2t over one turn, the last point included where the window is not periodic.
std::vector<Value> window(OnnxNodeContext& c, double a0, double a1, double a2) {
  GraphBuilder& g = c.g();
  auto number = [&](double v) { return scalar(g, DType::f64, v); };
  Value size = g.cast(c.in(0), {.to = DType::i64});
  Value step = g.cast(g.range(scalar(g, DType::i64, 0), size, scalar(g, DType::i64, 1)), {.to = DType::f64});
  Value turn = g.cast(size, {.to = DType::f64});
  if (!c.flag_attr("periodic", true)) turn = g.sub(turn, number(1));
  Value angle = g.div(g.mul(step, number(2 * std::numbers::pi)), turn);
  Value y = g.sub(number(a0), g.mul(number(a1), g.cos(angle)));
  if (a2 != 0) y = g.add(y, g.mul(number(a2), g.cos(g.mul(angle, number(2)))));
  return {g.cast(y, {.to = c.dtype_attr("output_datatype", DType::f32)})};
}

std::vector<Value> blackman(OnnxNodeContext& c) { return window(c, 0.42, 0.5, 0.08); }
std::vector<Value> hamming(OnnxNodeContext& c) { return window(c, 25.0 / 46, 21.0 / 46, 0); }
std::vector<Value> hann(OnnxNodeContext& c) { return window(c, 0.5, 0.5, 0); }

}  // namespace

void add_onnx_windows(OnnxOpTable& t) {
  t[{"", "BlackmanWindow"}] = {.import = blackman, .first_opset = 17};
  t[{"", "HammingWindow"}] = {.import = hamming, .first_opset = 17};
  t[{"", "HannWindow"}] = {.import = hann, .first_opset = 17};
}

}  // namespace ingot
