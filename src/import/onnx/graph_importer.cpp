#include "import/onnx/graph_importer.h"

#include "import/onnx/op_table.h"
#include "import/onnx/remedies.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr int kMaxDepth = 64;

[[noreturn]] void fail(std::string name, std::string expected, std::string observed,
                       std::string remedy = kInvalidOnnx) {
  throw Error({.code = ErrorCode::corrupt,
               .object = "ONNX graph",
               .name = std::move(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

int64_t opset_of(const OnnxOpsets& opsets, std::string_view domain) {
  auto found = opsets.find(normal_domain(domain));
  return found == opsets.end() ? 1 : found->second;
}

}  // namespace

void collect_outer_names(const OnnxGraph& graph, std::set<std::string>& names) {
  std::set<std::string, std::less<>> own;
  for (const auto& v : graph.inputs) own.emplace(v.name);
  for (const auto& t : graph.initializers) own.emplace(t.name);
  for (const auto& t : graph.sparse_initializers) own.emplace(t.values.name);
  for (const OnnxNode& node : graph.nodes) {
    std::set<std::string> read(node.inputs.begin(), node.inputs.end());
    for (const OnnxAttribute& a : node.attributes)
      for (const OnnxGraph& body : a.graphs) collect_outer_names(body, read);
    for (const std::string& name : read)
      if (!name.empty() && !own.contains(name)) names.insert(name);
    for (std::string_view name : node.outputs) own.emplace(name);
  }
  for (const auto& v : graph.outputs)
    if (!own.contains(v.name)) names.emplace(v.name);
}

OnnxGraphImporter::OnnxGraphImporter(const OnnxModelContext& model, OnnxOpsets opsets,
                                     OnnxAttributeScope attributes, int depth)
    : model_(model), opsets_(std::move(opsets)), attributes_(std::move(attributes)), depth_(depth) {
  if (depth_ > kMaxDepth)
    fail(std::string(model.model.graph.name),
         fmt::format("bodies and functions nested at most {} deep", kMaxDepth), "more",
         "Inline some of its functions and bodies, then export it again.");
}

Graph OnnxGraphImporter::import_main(const OnnxGraph& graph) {
  owned_ = std::make_unique<GraphBuilder>(std::string(graph.name));
  builder_ = owned_.get();
  for (const OnnxProperty& p : model_.model.metadata)
    builder_->set_metadata(std::string(p.key), std::string(p.value));
  import_constants(graph);
  for (const OnnxValueInfo& v : graph.inputs)
    if (!scope_.contains(v.name))
      define(v.name, builder_->input(std::string(v.name), type_from_onnx(v.type, v.name, *builder_)));
  import_nodes(graph.nodes);
  std::vector<Value> results = results_of(graph);
  for (size_t i = 0; i < results.size(); ++i)
    builder_->output(std::string(graph.outputs[i].name), results[i]);
  return std::move(*builder_).finish();
}

GraphPtr OnnxGraphImporter::import_body(const OnnxGraph& graph, const OnnxBodyEntry& enter,
                                        const OnnxBodyExit& leave,
                                        const std::vector<std::string>& captured) const {
  OnnxGraphImporter inner(model_, opsets_, attributes_, depth_ + 1);
  inner.owned_ = std::make_unique<GraphBuilder>(std::string(graph.name));
  inner.builder_ = inner.owned_.get();
  std::vector<Value> own = enter(*inner.builder_);
  if (own.size() != graph.inputs.size())
    fail(std::string(graph.name), fmt::format("a body of {} inputs", own.size()),
         fmt::format("{}", graph.inputs.size()));
  for (size_t i = 0; i < own.size(); ++i) inner.define(graph.inputs[i].name, own[i]);
  for (const std::string& name : captured)
    inner.scope_.emplace(name, inner.builder_->input("outer." + name, builder_->type(lookup(name))));
  bring_constants_in(graph, inner);
  inner.import_constants(graph);
  inner.import_nodes(graph.nodes);
  leave(*inner.builder_, inner.results_of(graph));
  return std::make_shared<const Graph>(std::move(*inner.builder_).finish());
}

std::vector<Value> OnnxGraphImporter::import_inlined(const OnnxGraph& graph,
                                                     const std::vector<Value>& inputs) {
  if (inputs.size() != graph.inputs.size())
    fail(std::string(graph.name), fmt::format("a body of {} inputs", inputs.size()),
         fmt::format("{}", graph.inputs.size()));
  OnnxGraphImporter inner(model_, opsets_, attributes_, depth_ + 1);
  inner.builder_ = builder_;
  for (size_t i = 0; i < inputs.size(); ++i) inner.define(graph.inputs[i].name, inputs[i]);
  std::set<std::string> names;
  collect_outer_names(graph, names);
  for (const std::string& name : names) inner.scope_.emplace(name, lookup(name));
  inner.import_constants(graph);
  inner.import_nodes(graph.nodes);
  return inner.results_of(graph);
}

// What a body reads from outside and is no captured operand: see OnnxNodeContext::captures().
void OnnxGraphImporter::bring_constants_in(const OnnxGraph& graph, OnnxGraphImporter& inner) const {
  std::set<std::string> names;
  collect_outer_names(graph, names);
  for (const std::string& name : names) {
    if (inner.scope_.contains(name)) continue;
    Value outer = lookup(name);
    auto constant = builder_->constant_value(outer);
    if (constant || outer.is_none())
      inner.scope_[name] = constant ? inner.builder_->constant(*constant) : Value();
  }
}

Value OnnxGraphImporter::lookup(std::string_view name) const {
  auto found = scope_.find(name);
  if (found == scope_.end())
    fail(std::string(name), "a value defined before it is read", "none of this name",
         "Correct the name, or put each node after those whose outputs it reads; cycles have no such order.");
  return found->second;
}

std::string OnnxGraphImporter::first_output(const OnnxNode& node) {
  for (std::string_view name : node.outputs)
    if (!name.empty()) return std::string(name);
  return {};
}

void OnnxGraphImporter::define(std::string_view name, Value value) {
  if (!scope_.emplace(std::string(name), value).second)
    fail(std::string(name), "each value defined once", "a second definition",
         "Rename one of the two, and what is meant to read it.");
}

void OnnxGraphImporter::import_constants(const OnnxGraph& graph) {
  for (const OnnxTensor& t : graph.initializers) {
    if (scope_.contains(t.name)) continue;  // the default of an input that has a value
    builder_->set_origin(std::string(t.name));
    define(t.name, builder_->constant(tensor_from_onnx(t, model_.source)));
  }
  if (!graph.sparse_initializers.empty())
    throw Error({.code = ErrorCode::unsupported,
                 .object = "ONNX sparse initializer",
                 .name = std::string(graph.sparse_initializers[0].values.name),
                 .expected = "a dense tensor",
                 .observed = "a sparse one",
                 .remedy = "Export the model with dense weights."});
}

void OnnxGraphImporter::import_nodes(const std::vector<OnnxNode>& nodes) {
  for (const OnnxNode& node : nodes) import_node(node);
}

void OnnxGraphImporter::import_node(const OnnxNode& node) {
  model_.count_node();
  if (first_output(node).empty())
    fail(std::string(node.name), fmt::format("a {} node with an output", node.op_type), "none");
  builder_->set_origin(std::string(node.name.empty() ? first_output(node) : std::string(node.name)));
  std::vector<Value> results;
  if (const OnnxFunction* function = model_.find_function(node)) {
    results = call_function(node, *function);
  } else {
    const OnnxOpEntry& entry = onnx_op_table().at({normal_domain(node.domain), node.op_type});
    OnnxNodeContext context(*this, node, opset_of(opsets_, node.domain));
    try {
      results = entry.import(context);
    } catch (const Error& e) {
      if (e.parts().object.starts_with("ONNX")) throw;
      ErrorParts parts = e.parts();
      parts.object =
          fmt::format("ONNX node '{}' ({} opset {}): {}", node.name.empty() ? first_output(node) : node.name,
                      node.op_type, context.opset(), parts.object);
      if (parts.remedy.empty())
        parts.remedy = parts.code == ErrorCode::unsupported ? kUnsupportedOnnx : kInvalidOnnx;
      throw Error(std::move(parts));
    }
  }
  if (results.size() < node.outputs.size())
    fail(first_output(node), fmt::format("a {} of at most {} outputs", node.op_type, results.size()),
         fmt::format("{}", node.outputs.size()));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) define(node.outputs[i], results[i]);
}

// A call is its body with the formal names bound to the actual values, in a scope of its own.
std::vector<Value> OnnxGraphImporter::call_function(const OnnxNode& node, const OnnxFunction& function) {
  OnnxAttributeScope attributes;
  for (const OnnxAttribute& a : function.attribute_defaults) attributes[a.name] = &a;
  OnnxNodeContext context(*this, node, opset_of(opsets_, node.domain));
  for (const OnnxAttribute& a : node.attributes)
    if (const OnnxAttribute* given = context.find(a.name)) attributes[a.name] = given;
  OnnxOpsets opsets;
  for (const OnnxOpset& o : function.opsets) opsets[normal_domain(o.domain)] = o.version;

  OnnxGraphImporter inner(model_, std::move(opsets), std::move(attributes), depth_ + 1);
  inner.builder_ = builder_;
  if (node.inputs.size() > function.inputs.size())
    fail(std::string(function.name), fmt::format("a call with at most {} inputs", function.inputs.size()),
         fmt::format("{}", node.inputs.size()));
  for (size_t i = 0; i < function.inputs.size(); ++i) inner.define(function.inputs[i], context.optional(i));
  inner.import_nodes(function.nodes);
  std::vector<Value> results;
  for (size_t i = 0; i < std::min(node.outputs.size(), function.outputs.size()); ++i)
    results.push_back(node.outputs[i].empty() ? Value() : inner.lookup(function.outputs[i]));
  return results;
}

std::vector<Value> OnnxGraphImporter::results_of(const OnnxGraph& graph) const {
  std::vector<Value> results;
  for (const OnnxValueInfo& v : graph.outputs) results.push_back(lookup(v.name));
  return results;
}

}  // namespace ingot
