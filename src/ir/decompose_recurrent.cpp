#include "ir/builder_helpers.h"
#include "ir/decompose_helpers.h"
#include "ir/decompose_rules.h"
#include "ir/recurrent.h"
#include "ir/small_constants.h"

// Recurrent layers as a scan over the steps, one per direction. The products with the inputs do not depend on
// the state, so they are formed for all steps at once, before the scan.
namespace ingot {
namespace {

struct Activation {
  std::string name;
  double alpha, beta;
};

Value activate(GraphBuilder& g, Value x, const Activation& a) {
  auto number = [&](double v) { return scalar_like(g, x, v); };
  if (a.name == "sigmoid") return g.sigmoid(x);
  if (a.name == "tanh") return g.tanh(x);
  if (a.name == "relu") return g.relu(x);
  if (a.name == "affine") return g.add(g.mul(x, number(a.alpha)), number(a.beta));
  if (a.name == "thresholded_relu") return g.select(g.less(number(a.alpha), x), x, number(0));
  if (a.name == "scaled_tanh") return g.mul(g.tanh(g.mul(x, number(a.beta))), number(a.alpha));
  if (a.name == "softsign") return g.div(x, g.add(g.abs(x), number(1)));
  // max(x, 0) + log(1 + exp(-|x|)) does not overflow.
  if (a.name == "softplus") return g.add(g.relu(x), g.log(g.add(g.exp(g.neg(g.abs(x))), number(1))));
  if (a.name == "hard_sigmoid")
    return g.min(g.max(g.add(g.mul(x, number(a.alpha)), number(a.beta)), number(0)), number(1));
  Value below = a.name == "elu" ? g.sub(g.exp(g.min(x, number(0))), number(1)) : x;
  return g.select(g.less(x, number(0)), g.mul(below, number(a.alpha)), x);
}

// The attributes that the three layers share, for one direction.
struct Layer {
  std::vector<Activation> activations;
  double clip;
  bool reversed;

  Value apply(GraphBuilder& g, size_t activation, Value x) const {
    if (clip > 0) x = g.min(g.max(x, scalar_like(g, x, -clip)), scalar_like(g, x, clip));
    return activate(g, x, activations[activation]);
  }
};

template <class A>
Layer make_layer(const A& a, size_t direction) {
  size_t count = a.activations.size() / direction_count(a.direction);
  Layer layer{{}, a.clip, direction == 1 || a.direction == Direction::reverse};
  for (size_t i = direction * count; i < (direction + 1) * count; ++i)
    layer.activations.push_back({a.activations[i], a.alphas[i], a.betas[i]});
  return layer;
}

// The operands of one direction, in the type that the steps compute in. The last elements may be none.
struct Operands {
  Value x, w, r, input_bias, state_bias, lengths, peephole;
  std::vector<Value> states;
};

// Element `index` of the first axis.
Value pick(GraphBuilder& g, Value x, size_t index, DType dtype) {
  return cast_to(g, g.gather(x, scalar(g, DType::i64, static_cast<double>(index))), dtype);
}

Value zero_state(GraphBuilder& g, Value x, Value r) {
  Value shape = g.concat({g.shape_of(x, {.start = 1, .end = 2}), g.shape_of(r, {.start = 1, .end = 2})});
  return g.broadcast_to(scalar_like(g, x, 0), shape);
}

Operands pick_direction(GraphBuilder& g, std::span<const Value> in, size_t direction, size_t states) {
  Operands o;
  o.x = widen(g, in[0]);
  DType dtype = g.dtype(o.x);
  o.w = pick(g, in[1], direction, dtype);
  o.r = pick(g, in[2], direction, dtype);
  if (!operand(in, 3).is_none()) {
    auto halves = g.split(pick(g, in[3], direction, dtype), Value(), 2);
    o.input_bias = halves[0];
    o.state_bias = halves[1];
  }
  if (!operand(in, 4).is_none()) o.lengths = cast_to(g, in[4], DType::i64);
  for (size_t i = 0; i < states; ++i) {
    Value given = operand(in, 5 + i);
    o.states.push_back(given.is_none() ? zero_state(g, o.x, o.r) : pick(g, given, direction, dtype));
  }
  if (!operand(in, 7).is_none()) o.peephole = pick(g, in[7], direction, dtype);
  return o;
}

// One step: what its body sees. Captured values become inputs of the body.
struct Step {
  GraphBuilder g{"step"};
  std::vector<Value> states;
  Value x;  // products of the inputs and the weights, with the input bias
  Value index;
  std::vector<Value> captures;  // in the graph around

  Value input(const Type& type) { return g.input(fmt::format("{}", next_++), type); }
  Value capture(const GraphBuilder& outer, Value v) {
    if (v.is_none()) return v;
    captures.push_back(v);
    return input(outer.type(v));
  }

 private:
  int next_ = 0;
};

Value add_bias(GraphBuilder& g, Value x, Value bias) { return bias.is_none() ? x : g.add(x, bias); }

Type without_first_axis(const GraphBuilder& g, Value x) {
  const Dims& dims = g.dims(x);
  return Type::tensor(g.dtype(x), Dims(dims.begin() + 1, dims.end()));
}

// Past its length a sample keeps its state, and its output is 0.
Value end_step(Step& s, std::vector<Value> next, Value lengths) {
  Value y = next[0];
  if (!lengths.is_none()) {
    Value alive = s.g.unsqueeze(s.g.less(s.index, lengths), int_list(s.g, {1}));
    for (size_t i = 0; i < next.size(); ++i) next[i] = s.g.select(alive, next[i], s.states[i]);
    y = s.g.select(alive, y, scalar_like(s.g, y, 0));
  }
  for (size_t i = 0; i < next.size(); ++i) s.g.output(fmt::format("state{}", i), next[i]);
  return y;
}

// Runs `step` over the steps of one direction. It gets the body, R and its bias, and gives the next states.
// Results: the last states, then all outputs [T, B, H].
template <class F>
std::vector<Value> run_direction(GraphBuilder& g, const Operands& o, const Layer& layer, F step) {
  Step s;
  for (Value state : o.states) s.states.push_back(s.input(g.type(state)));
  std::vector<Value> scanned = {add_bias(g, g.matmul(o.x, g.transpose(o.w)), o.input_bias)};
  if (!o.lengths.is_none()) {
    Value steps = g.reshape(g.shape_of(o.x, {.start = 0, .end = 1}), int_list(g, {}));
    scanned.push_back(g.range(scalar(g, DType::i64, 0), steps, scalar(g, DType::i64, 1)));
  }
  s.x = s.input(without_first_axis(g, scanned[0]));
  if (!o.lengths.is_none()) s.index = s.input(without_first_axis(g, scanned[1]));
  Value r = s.capture(g, g.transpose(o.r)), bias = s.capture(g, o.state_bias);
  Value peephole = s.capture(g, o.peephole), lengths = s.capture(g, o.lengths);
  Value y = end_step(s, step(s, layer, r, bias, peephole), lengths);
  s.g.output("y", y);
  std::vector<int64_t> reversed(scanned.size(), layer.reversed ? 1 : 0);
  ScanAttrs attrs{.input_reversed = reversed, .output_reversed = {layer.reversed ? 1 : 0}};
  auto captures = s.captures;
  return g.scan(o.states, scanned, std::make_shared<const Graph>(std::move(s.g).finish()), captures, attrs);
}

std::vector<Value> rnn_step(Step& s, const Layer& layer, Value r, Value bias, Value) {
  GraphBuilder& g = s.g;
  return {layer.apply(g, 0, add_bias(g, g.add(s.x, g.matmul(s.states[0], r)), bias))};
}

// Gates z, r, h. The state enters h after the product with R if `linear_before_reset`, else before it.
std::vector<Value> gru_step(Step& s, const Layer& layer, Value r, Value bias, bool linear_before_reset) {
  GraphBuilder& g = s.g;
  Value h = s.states[0], one = scalar_like(g, h, 1);
  auto x = g.split(s.x, Value(), 3, {.axis = 1}), rs = g.split(r, Value(), 3, {.axis = 1});
  std::vector<Value> bs = bias.is_none() ? std::vector<Value>(3) : g.split(bias, Value(), 3);
  auto product = [&](Value state, size_t gate) { return add_bias(g, g.matmul(state, rs[gate]), bs[gate]); };
  Value update = layer.apply(g, 0, g.add(x[0], product(h, 0)));
  Value reset = layer.apply(g, 0, g.add(x[1], product(h, 1)));
  Value recurrent = linear_before_reset ? g.mul(reset, product(h, 2)) : product(g.mul(reset, h), 2);
  Value candidate = layer.apply(g, 1, g.add(x[2], recurrent));
  return {g.add(g.mul(g.sub(one, update), candidate), g.mul(update, h))};
}

// Gates i, o, f, c; peepholes i, o, f let the cell into the gates.
std::vector<Value> lstm_step(Step& s, const Layer& layer, Value r, Value bias, Value peephole,
                             bool input_forget) {
  GraphBuilder& g = s.g;
  Value cell = s.states[1];
  auto gates = g.split(add_bias(g, g.add(s.x, g.matmul(s.states[0], r)), bias), Value(), 4, {.axis = 1});
  std::vector<Value> holes = peephole.is_none() ? std::vector<Value>() : g.split(peephole, Value(), 3);
  auto gate = [&](size_t index, size_t hole, Value seen) {
    Value x = holes.empty() ? gates[index] : g.add(gates[index], g.mul(holes[hole], seen));
    return layer.apply(g, 0, x);
  };
  Value in = gate(0, 0, cell);
  Value keep = input_forget ? g.sub(scalar_like(g, in, 1), in) : gate(2, 2, cell);
  Value next = g.add(g.mul(keep, cell), g.mul(in, layer.apply(g, 1, gates[3])));
  return {g.mul(gate(1, 1, next), layer.apply(g, 2, next)), next};
}

// Runs every direction and stacks the results.
template <class A, class F>
std::vector<Value> run_layer(GraphBuilder& g, const A& a, std::span<const Value> in, size_t states, F step) {
  std::vector<std::vector<Value>> parts(states + 1);  // outputs, then states, per direction
  for (size_t d = 0; d < direction_count(a.direction); ++d) {
    auto results = run_direction(g, pick_direction(g, in, d, states), make_layer(a, d), step);
    parts[0].push_back(g.unsqueeze(results[states], int_list(g, {1})));
    for (size_t i = 0; i < states; ++i) parts[i + 1].push_back(g.unsqueeze(results[i], int_list(g, {0})));
  }
  std::vector<Value> out;
  for (size_t i = 0; i < parts.size(); ++i)
    out.push_back(cast_to(g, g.concat(parts[i], {.axis = i == 0 ? 1 : 0}), g.dtype(in[0])));
  return out;
}

}  // namespace

std::vector<Value> decompose_rnn(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  return run_layer(g, node.as<RnnAttrs>(), in, 1, rnn_step);
}

std::vector<Value> decompose_gru(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<GruAttrs>();
  return run_layer(g, a, in, 1, [&](Step& s, const Layer& layer, Value r, Value bias, Value) {
    return gru_step(s, layer, r, bias, a.linear_before_reset);
  });
}

std::vector<Value> decompose_lstm(GraphBuilder& g, const Node& node, std::span<const Value> in) {
  const auto& a = node.as<LstmAttrs>();
  return run_layer(g, a, in, 2, [&](Step& s, const Layer& layer, Value r, Value bias, Value peephole) {
    return lstm_step(s, layer, r, bias, peephole, a.input_forget);
  });
}

}  // namespace ingot
