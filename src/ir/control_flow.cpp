#include "ingot/error.h"
#include "ingot/graph.h"

namespace ingot {
namespace {

void append(std::vector<Value>& to, const std::vector<Value>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

int output_count(const GraphPtr& body) {
  if (body == nullptr)
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "graph builder",
                 .expected = "a body",
                 .observed = "null"});
  return static_cast<int>(body->outputs().size());
}

}  // namespace

std::vector<Value> GraphBuilder::if_else(Value condition, GraphPtr then_branch, GraphPtr else_branch,
                                         const std::vector<Value>& captures) {
  std::vector<Value> operands{condition};
  append(operands, captures);
  int outputs = output_count(then_branch);
  return add(IfAttrs{}, std::move(operands), {std::move(then_branch), std::move(else_branch)}, outputs);
}

std::vector<Value> GraphBuilder::loop(Value max_trip, Value condition, const std::vector<Value>& states,
                                      GraphPtr body, const std::vector<Value>& captures) {
  std::vector<Value> operands{max_trip, condition};
  append(operands, states);
  append(operands, captures);
  int outputs = output_count(body) - 1;
  return add(LoopAttrs{.states = static_cast<int64_t>(states.size())}, std::move(operands), {std::move(body)},
             outputs);
}

std::vector<Value> GraphBuilder::scan(const std::vector<Value>& states, const std::vector<Value>& inputs,
                                      GraphPtr body, const std::vector<Value>& captures, ScanAttrs attrs) {
  attrs.states = static_cast<int64_t>(states.size());
  attrs.inputs = static_cast<int64_t>(inputs.size());
  std::vector<Value> operands = states;
  append(operands, inputs);
  append(operands, captures);
  int outputs = output_count(body);
  return add(std::move(attrs), std::move(operands), {std::move(body)}, outputs);
}

}  // namespace ingot
