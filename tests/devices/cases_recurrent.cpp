// Recurrent layers.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

constexpr int64_t kSteps = 7, kBatch = 3, kInputs = 5;

struct Form {
  int64_t hidden;
  Direction direction;
  bool bias, lengths, initial;
};

int64_t directions(const Form& f) { return f.direction == Direction::bidirectional ? 2 : 1; }

struct Operands {
  Value x, w, r, bias, lengths, initial;
};

Operands operands(GraphMaker& m, DType dtype, const Form& f, int64_t gates) {
  const int64_t d = directions(f);
  Operands o;
  o.x = m.tensor(dtype, {kSteps, kBatch, kInputs});
  o.w = m.tensor(dtype, {d, gates * f.hidden, kInputs}, {-0.5, 0.5});
  o.r = m.tensor(dtype, {d, gates * f.hidden, f.hidden}, {-0.3, 0.3});
  if (f.bias) o.bias = m.tensor(dtype, {d, 2 * gates * f.hidden}, {-0.5, 0.5});
  if (f.lengths) o.lengths = m.input(Tensor::of<int32_t>({kBatch}, {7, 2, 5}));
  if (f.initial) o.initial = m.tensor(dtype, {d, kBatch, f.hidden}, {-1, 1});
  return o;
}

// The names of one direction for each.
template <class A>
A attrs(const Form& f, const std::vector<std::string>& names) {
  A a;
  a.direction = f.direction;
  for (int64_t d = 0; d < directions(f); ++d)
    a.activations.insert(a.activations.end(), names.begin(), names.end());
  a.alphas.assign(a.activations.size(), 0);
  a.betas.assign(a.activations.size(), 0);
  return a;
}

std::string name_of(const char* op, DType dtype, const Form& f) {
  return fmt::format("{} {} hidden {} {}{}{}{}", op, to_string(dtype), f.hidden,
                     enum_names<Direction>()[static_cast<size_t>(f.direction)], f.bias ? " bias" : "",
                     f.lengths ? " lengths" : "", f.initial ? " initial" : "");
}

void add_layers(Table& table, DType dtype, const Form& f, const std::vector<Source>& sources) {
  auto rnn = [=](GraphMaker& m) {
    const Operands o = operands(m, dtype, f, 1);
    const auto y = m.g.rnn(o.x, o.w, o.r, o.bias, o.lengths, o.initial, attrs<RnnAttrs>(f, {"tanh"}));
    return std::vector<Value>(y.begin(), y.end());
  };
  table.push_back({name_of("rnn", dtype, f), rnn, Closeness::composed, sources});
  for (bool before : {false, true}) {
    auto gru = [=](GraphMaker& m) {
      const Operands o = operands(m, dtype, f, 3);
      auto a = attrs<GruAttrs>(f, {"sigmoid", "tanh"});
      a.linear_before_reset = before;
      const auto y = m.g.gru(o.x, o.w, o.r, o.bias, o.lengths, o.initial, a);
      return std::vector<Value>(y.begin(), y.end());
    };
    table.push_back(
        {name_of(before ? "gru linear_before_reset" : "gru", dtype, f), gru, Closeness::composed, sources});
  }
  auto lstm = [=](GraphMaker& m) {
    const Operands o = operands(m, dtype, f, 4);
    const Value peephole = f.bias ? m.tensor(dtype, {directions(f), 3 * f.hidden}, {-0.5, 0.5}) : Value();
    const auto y = m.g.lstm(o.x, o.w, o.r, o.bias, o.lengths, o.initial, o.initial, peephole,
                            attrs<LstmAttrs>(f, {"sigmoid", "tanh", "tanh"}));
    return std::vector<Value>(y.begin(), y.end());
  };
  table.push_back({name_of("lstm", dtype, f), lstm, Closeness::composed, sources});
}

}  // namespace

void add_recurrent_cases(Table& table) {
  for (int64_t hidden : {4, 9, 32})
    for (Direction direction : {Direction::forward, Direction::reverse, Direction::bidirectional})
      for (int parts : {0, 1, 5, 7})
        add_layers(table, DType::f32,
                   {hidden, direction, (parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0},
                   {Source::plain, Source::constant});
  add_layers(table, DType::f32, {8, Direction::forward, true, false, true}, all_sources());
  add_layers(table, DType::f16, {8, Direction::bidirectional, true, false, true}, {Source::plain});
  add_layers(table, DType::f64, {8, Direction::bidirectional, true, true, true}, {Source::plain});
}

}  // namespace ingot::devices
