#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"

namespace ingot {
namespace {

std::vector<Value> sequence_construct(OnnxNodeContext& c) { return {c.g().sequence_construct(c.inputs())}; }

std::vector<Value> sequence_empty(OnnxNodeContext& c) {
  return {c.g().sequence_empty({.element = c.dtype_attr("dtype", DType::f32)})};
}

std::vector<Value> sequence_at(OnnxNodeContext& c) { return {c.g().sequence_at(c.in(0), c.in(1))}; }

std::vector<Value> sequence_insert(OnnxNodeContext& c) {
  return {c.g().sequence_insert(c.in(0), c.in(1), c.optional(2))};
}

std::vector<Value> sequence_erase(OnnxNodeContext& c) {
  return {c.g().sequence_erase(c.in(0), c.optional(1))};
}

std::vector<Value> sequence_length(OnnxNodeContext& c) { return {c.g().sequence_length(c.in(0))}; }

std::vector<Value> split_to_sequence(OnnxNodeContext& c) {
  SplitToSequenceAttrs attrs{.axis = c.int_attr("axis", 0), .keep_axis = c.flag_attr("keepdims", true)};
  return {c.g().split_to_sequence(c.in(0), c.optional(1), attrs)};
}

std::vector<Value> concat_from_sequence(OnnxNodeContext& c) {
  ConcatFromSequenceAttrs attrs{.axis = c.int_attr("axis"), .new_axis = c.flag_attr("new_axis", false)};
  return {c.g().concat_from_sequence(c.in(0), attrs)};
}

// Without an input: an empty optional of the type in the attribute.
std::vector<Value> optional(OnnxNodeContext& c) {
  if (c.has(0)) return {c.g().optional_of(c.in(0))};
  const OnnxAttribute* a = c.find("type");
  if (a == nullptr || a->types.empty()) c.fail_invalid("an input or the attribute 'type'", "neither");
  Type type = type_from_onnx(a->types[0], "type", c.g());
  bool sequence = type.kind == Type::Kind::sequence;
  return {c.g().optional_empty({.element = type.element_dtype(), .sequence = sequence})};
}

std::vector<Value> optional_get_element(OnnxNodeContext& c) { return {c.g().optional_get(c.in(0))}; }

std::vector<Value> optional_has_element(OnnxNodeContext& c) {
  Value x = c.optional(0);
  if (!x.is_none()) return {c.g().optional_has(x)};
  return {c.g().constant(Tensor::allocate(DType::boolean, {}))};
}

}  // namespace

void add_onnx_sequence(OnnxOpTable& t) {
  t[{"", "SequenceConstruct"}] = {.import = sequence_construct, .first_opset = 11};
  t[{"", "SequenceEmpty"}] = {.import = sequence_empty, .first_opset = 11};
  t[{"", "SequenceAt"}] = {.import = sequence_at, .first_opset = 11};
  t[{"", "SequenceInsert"}] = {.import = sequence_insert, .first_opset = 11};
  t[{"", "SequenceErase"}] = {.import = sequence_erase, .first_opset = 11};
  t[{"", "SequenceLength"}] = {.import = sequence_length, .first_opset = 11};
  t[{"", "SplitToSequence"}] = {.import = split_to_sequence, .first_opset = 11};
  t[{"", "ConcatFromSequence"}] = {.import = concat_from_sequence, .first_opset = 11};
  t[{"", "Optional"}] = {.import = optional, .first_opset = 15};
  t[{"", "OptionalGetElement"}] = {.import = optional_get_element, .first_opset = 15};
  t[{"", "OptionalHasElement"}] = {.import = optional_has_element, .first_opset = 15};
}

}  // namespace ingot
