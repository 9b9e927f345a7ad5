// Branches and loops, with bodies that compute.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

GraphPtr branch(bool first) {
  GraphBuilder b(first ? "then" : "else");
  const Value x = b.input("x", Type::tensor(DType::f32, {Dim::symbol("rows"), 7}));
  b.output("y", first ? b.add(b.relu(x), x) : b.softmax(x));
  return std::make_shared<const Graph>(std::move(b).finish());
}

// state = tanh(state @ w + state), and the state of each step.
GraphPtr loop_body() {
  GraphBuilder b("body");
  b.input("i", Type::tensor(DType::i64, {}));
  const Value go = b.input("go", Type::tensor(DType::boolean, {}));
  const Value state = b.input("state", Type::tensor(DType::f32, {4, 7})),
              w = b.input("w", Type::tensor(DType::f32, {7, 7}));
  const Value next = b.tanh(b.add(b.matmul(state, w), state));
  b.output("go_on", go);
  b.output("next", next);
  b.output("seen", next);
  return std::make_shared<const Graph>(std::move(b).finish());
}

GraphPtr scan_body() {
  GraphBuilder b("body");
  const Value sum = b.input("sum", Type::tensor(DType::f32, {7})),
              x = b.input("x", Type::tensor(DType::f32, {7}));
  const Value next = b.add(b.mul(sum, b.constant(tensor_of(DType::f32, {}, {0.5}))), x);
  b.output("next", next);
  b.output("seen", b.relu(next));
  return std::make_shared<const Graph>(std::move(b).finish());
}

}  // namespace

void add_control_cases(Table& table) {
  const std::vector<Source> sources = {Source::plain, Source::computed, Source::transposed, Source::sliced};
  for (bool condition : {true, false})
    table.push_back(
        {fmt::format("if {}", condition),
         [=](GraphMaker& m) {
           const Value chosen = m.input(tensor_of(DType::boolean, {}, {condition ? 1.0 : 0.0}));
           return m.g.if_else(chosen, branch(true), branch(false), {m.tensor(DType::f32, {5, 7})});
         },
         Closeness::composed, sources});
  for (int64_t trips : {0, 1, 4})
    table.push_back(
        {fmt::format("loop {}", trips),
         [=](GraphMaker& m) {
           const Value count = m.input(Tensor::of<int64_t>({}, {trips}));
           const Value state = m.tensor(DType::f32, {4, 7}), w = m.tensor(DType::f32, {7, 7}, {-0.3, 0.3});
           return m.g.loop(count, {}, {state}, loop_body(), {w});
         },
         Closeness::composed, sources});
  table.push_back(
      {"scan",
       [](GraphMaker& m) {
         return m.g.scan({m.tensor(DType::f32, {7})}, {m.tensor(DType::f32, {6, 7})}, scan_body());
       },
       Closeness::composed, sources});
}

}  // namespace ingot::devices
