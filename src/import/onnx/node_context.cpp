#include "import/onnx/node_context.h"

#include "import/onnx/graph_importer.h"
#include "import/onnx/remedies.h"
#include "ingot/error.h"
#include "ir/builder_helpers.h"
#include "ir/shape_values.h"

namespace ingot {

OnnxNodeContext::OnnxNodeContext(OnnxGraphImporter& graph, const OnnxNode& node, int64_t opset)
    : graph_(graph), node_(node), opset_(opset) {}

GraphBuilder& OnnxNodeContext::g() const { return graph_.builder(); }

Value OnnxNodeContext::in(size_t i) const {
  if (!has(i)) fail_invalid(fmt::format("input {}", i), "none");
  return graph_.lookup(node_.inputs[i]);
}

Value OnnxNodeContext::optional(size_t i) const { return has(i) ? in(i) : Value(); }

std::vector<Value> OnnxNodeContext::inputs() const {
  std::vector<Value> out;
  for (size_t i = 0; i < input_count(); ++i) out.push_back(optional(i));
  return out;
}

Tensor OnnxNodeContext::constant(size_t i, std::string_view what) const {
  auto value = g().constant_value(in(i));
  if (!value) fail_unsupported(fmt::format("a constant for input {}: {}", i, what), "a computed value");
  return *value;
}

std::optional<std::vector<int64_t>> OnnxNodeContext::known_ints(size_t i) const {
  if (!has(i)) return std::nullopt;
  return numbers(g().known_values(in(i)));
}

Value OnnxNodeContext::ints_of(size_t i, std::string_view attribute, bool is_attribute) const {
  if (is_attribute) return has_attr(attribute) ? int_list(g(), ints_attr(attribute)) : Value();
  return has(i) ? cast_to(g(), in(i), DType::i64) : Value();
}

const OnnxAttribute* OnnxNodeContext::find(std::string_view name) const {
  for (const OnnxAttribute& a : node_.attributes) {
    if (a.name != name) continue;
    if (a.ref_attr_name.empty()) return &a;
    auto found = graph_.attributes().find(a.ref_attr_name);
    return found == graph_.attributes().end() ? nullptr : found->second;
  }
  return nullptr;
}

const OnnxAttribute* OnnxNodeContext::find(std::string_view name, OnnxAttributeType type) const {
  const OnnxAttribute* a = find(name);
  if (a != nullptr && a->type != type)
    fail_invalid(fmt::format("attribute '{}' of type {}", name, static_cast<int>(type)),
                 fmt::format("type {}", static_cast<int>(a->type)));
  return a;
}

const OnnxAttribute& OnnxNodeContext::get(std::string_view name, OnnxAttributeType type) const {
  const OnnxAttribute* a = find(name, type);
  if (a == nullptr) fail_invalid(fmt::format("attribute '{}'", name), "none");
  return *a;
}

int64_t OnnxNodeContext::int_attr(std::string_view name) const {
  return get(name, OnnxAttributeType::int64).i;
}

int64_t OnnxNodeContext::int_attr(std::string_view name, int64_t missing) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::int64);
  return a ? a->i : missing;
}

double OnnxNodeContext::float_attr(std::string_view name) const {
  return get(name, OnnxAttributeType::float32).f;
}

double OnnxNodeContext::float_attr(std::string_view name, double missing) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::float32);
  return a ? a->f : missing;
}

std::string OnnxNodeContext::text_attr(std::string_view name, std::string_view missing) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::string);
  return std::string(a ? a->s : missing);
}

std::vector<int64_t> OnnxNodeContext::ints_attr(std::string_view name) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::ints);
  return a ? a->ints : std::vector<int64_t>();
}

std::vector<double> OnnxNodeContext::floats_attr(std::string_view name) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::floats);
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : std::vector<double>();
}

std::vector<std::string> OnnxNodeContext::texts_attr(std::string_view name) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::strings);
  return a ? std::vector<std::string>(a->strings.begin(), a->strings.end()) : std::vector<std::string>();
}

DType OnnxNodeContext::dtype_attr(std::string_view name) const {
  return dtype_from_onnx(static_cast<int32_t>(int_attr(name)), describe());
}

DType OnnxNodeContext::dtype_attr(std::string_view name, DType missing) const {
  return has_attr(name) ? dtype_attr(name) : missing;
}

std::optional<Tensor> OnnxNodeContext::tensor_attr(std::string_view name) const {
  const OnnxAttribute* a = find(name, OnnxAttributeType::tensor);
  if (a == nullptr) return std::nullopt;
  return tensor_from_onnx(a->tensors.at(0), graph_.model().source);
}

const OnnxGraph& OnnxNodeContext::graph_attr(std::string_view name) const {
  return get(name, OnnxAttributeType::graph).graphs.at(0);
}

std::vector<std::string> OnnxNodeContext::captures(std::initializer_list<const OnnxGraph*> bodies) const {
  std::set<std::string> names;
  for (const OnnxGraph* body : bodies) collect_outer_names(*body, names);
  std::vector<std::string> out;
  for (const std::string& name : names) {
    Value v = graph_.lookup(name);
    if (!v.is_none() && !g().constant_value(v)) out.push_back(name);
  }
  return out;
}

std::vector<Value> OnnxNodeContext::values_of(const std::vector<std::string>& names) const {
  std::vector<Value> out;
  for (const std::string& name : names) out.push_back(graph_.lookup(name));
  return out;
}

GraphPtr OnnxNodeContext::body(const OnnxGraph& graph, const std::vector<Type>& inputs,
                               const std::vector<std::string>& captured) const {
  if (inputs.size() != graph.inputs.size())
    fail_invalid(fmt::format("a body '{}' of {} inputs", graph.name, inputs.size()),
                 fmt::format("{}", graph.inputs.size()));
  auto enter = [&](GraphBuilder& inner) {
    std::vector<Value> values;
    for (size_t i = 0; i < inputs.size(); ++i)
      values.push_back(inner.input(std::string(graph.inputs[i].name), inputs[i]));
    return values;
  };
  auto leave = [&](GraphBuilder& inner, const std::vector<Value>& results) {
    for (size_t i = 0; i < results.size(); ++i) inner.output(std::string(graph.outputs[i].name), results[i]);
  };
  return body(graph, enter, leave, captured);
}

GraphPtr OnnxNodeContext::body(const OnnxGraph& graph, const OnnxBodyEntry& enter, const OnnxBodyExit& leave,
                               const std::vector<std::string>& captured) const {
  return graph_.import_body(graph, enter, leave, captured);
}

std::vector<Value> OnnxNodeContext::inlined(const OnnxGraph& graph, const std::vector<Value>& inputs) const {
  return graph_.import_inlined(graph, inputs);
}

std::string OnnxNodeContext::describe() const {
  return fmt::format("{} ({}{}{} opset {})", node_.name.empty() ? graph_.first_output(node_) : node_.name,
                     node_.domain, node_.domain.empty() ? "" : ".", node_.op_type, opset_);
}

void OnnxNodeContext::fail_unsupported(std::string expected, std::string observed) const {
  throw Error({.code = ErrorCode::unsupported,
               .object = "ONNX node",
               .name = describe(),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = kUnsupportedOnnx});
}

void OnnxNodeContext::fail_invalid(std::string expected, std::string observed) const {
  throw Error({.code = ErrorCode::corrupt,
               .object = "ONNX node",
               .name = describe(),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = kInvalidOnnx});
}

void OnnxNodeContext::fail_spelling(std::string_view name, const std::string& text,
                                    const std::vector<std::string_view>& known) const {
  fail_invalid(fmt::format("attribute '{}' to be one of {}", name, fmt::join(known, ", ")), "'" + text + "'");
}

}  // namespace ingot
