#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/small_constants.h"

// One step of an optimizer for any number of tensors, as primitives. Inputs: learning rate, step number, then
// all X, all gradients G, and one list more for each state. The formulas are those of ONNX's
// ai.onnx.preview.training 1.
namespace ingot {
namespace {

using Values = std::vector<Value>;

// The tensors of one step: lists of `count` values each.
struct Step {
  OnnxNodeContext& c;
  GraphBuilder& g;
  Value rate, number;
  size_t count;

  Step(OnnxNodeContext& context, size_t lists)
      : c(context), g(c.g()), rate(c.in(0)), number(c.in(1)), count((c.input_count() - 2) / lists) {
    if (c.input_count() < 2 + lists || (c.input_count() - 2) % lists != 0)
      c.fail_invalid(fmt::format("2 inputs and {} lists of equal length", lists),
                     fmt::format("{} inputs", c.input_count()));
  }

  Value at(size_t list, size_t i) const { return c.in(2 + list * count + i); }
  Value scaled(double factor, Value v) const { return g.mul(scalar_like(g, v, factor), v); }
  // The gradient with that of the penalty on the size of X.
  Value gradient(size_t i) const {
    return g.add(scaled(c.float_attr("norm_coefficient", 0), at(0, i)), at(1, i));
  }
  Value is_first() const { return g.less_or_equal(number, scalar_like(g, number, 0)); }
};

Values adagrad(OnnxNodeContext& c) {
  Step s(c, 3);
  GraphBuilder& g = s.g;
  Value decay = s.scaled(c.float_attr("decay_factor", 0), g.cast(s.number, {.to = g.dtype(s.rate)}));
  Value rate = g.div(s.rate, g.add(scalar_like(g, decay, 1), decay));
  Values xs, squares;
  for (size_t i = 0; i < s.count; ++i) {
    Value gradient = s.gradient(i), square = g.add(s.at(2, i), g.mul(gradient, gradient));
    Value root = g.add(g.sqrt(square), scalar_like(g, square, c.float_attr("epsilon", 1e-6)));
    xs.push_back(g.sub(s.at(0, i), g.div(g.mul(rate, gradient), root)));
    squares.push_back(square);
  }
  xs.insert(xs.end(), squares.begin(), squares.end());
  return xs;
}

// Averages start at zero; the rate makes up for that.
Value adam_rate(const Step& s, double alpha, double beta) {
  GraphBuilder& g = s.g;
  Value number = g.cast(s.number, {.to = g.dtype(s.rate)}), one = scalar_like(g, number, 1);
  auto rest = [&](double base) { return g.sub(one, g.pow(scalar_like(g, number, base), number)); };
  Value adjusted = g.div(g.mul(s.rate, g.sqrt(rest(beta))), rest(alpha));
  return g.select(s.is_first(), s.rate, adjusted);
}

Values adam(OnnxNodeContext& c) {
  Step s(c, 4);
  GraphBuilder& g = s.g;
  double alpha = c.float_attr("alpha", 0.9), beta = c.float_attr("beta", 0.999);
  Value rate = adam_rate(s, alpha, beta);
  Values xs, means, squares;
  for (size_t i = 0; i < s.count; ++i) {
    Value gradient = s.gradient(i);
    Value mean = g.add(s.scaled(alpha, s.at(2, i)), s.scaled(1 - alpha, gradient));
    Value square = g.add(s.scaled(beta, s.at(3, i)), s.scaled(1 - beta, g.mul(gradient, gradient)));
    Value root = g.add(g.sqrt(square), scalar_like(g, square, c.float_attr("epsilon", 1e-6)));
    Value x = g.sub(s.at(0, i), g.div(g.mul(rate, mean), root));
    xs.push_back(s.scaled(1 - c.float_attr("norm_coefficient_post", 0), x));
    means.push_back(mean);
    squares.push_back(square);
  }
  xs.insert(xs.end(), means.begin(), means.end());
  xs.insert(xs.end(), squares.begin(), squares.end());
  return xs;
}

Values momentum(OnnxNodeContext& c) {
  Step s(c, 3);
  GraphBuilder& g = s.g;
  double alpha = c.float_attr("alpha");
  bool nesterov = c.enum_attr<bool>("mode", "", {{"nesterov", true}, {"standard", false}});
  Value beta =
      g.select(s.is_first(), scalar_like(g, s.rate, 1), scalar_like(g, s.rate, c.float_attr("beta")));
  Values xs, momenta;
  for (size_t i = 0; i < s.count; ++i) {
    Value gradient = s.gradient(i);
    Value moved = g.add(s.scaled(alpha, s.at(2, i)), g.mul(beta, gradient));
    Value direction = nesterov ? g.add(gradient, s.scaled(alpha, moved)) : moved;
    xs.push_back(g.sub(s.at(0, i), g.mul(s.rate, direction)));
    momenta.push_back(moved);
  }
  xs.insert(xs.end(), momenta.begin(), momenta.end());
  return xs;
}

}  // namespace

void add_onnx_training(OnnxOpTable& t) {
  t[{"ai.onnx.preview.training", "Adagrad"}] = {.import = adagrad};
  t[{"ai.onnx.preview.training", "Adam"}] = {.import = adam};
  t[{"ai.onnx.preview.training", "Momentum"}] = {.import = momentum};
}

}  // namespace ingot
