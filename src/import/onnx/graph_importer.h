#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "import/onnx/model_context.h"
#include "import/onnx/node_context.h"

namespace ingot {

// Adds to `names` what a graph reads from the graphs around it.
void collect_outer_names(const OnnxGraph& graph, std::set<std::string>& names);

// Imports one ONNX graph, a body of a control-flow node, or the nodes of a function into one GraphBuilder.
class OnnxGraphImporter {
 public:
  // `attributes`: of the function call this graph belongs to. `depth`: of nested bodies and calls, for the
  // limit.
  OnnxGraphImporter(const OnnxModelContext& model, OnnxOpsets opsets, OnnxAttributeScope attributes,
                    int depth);

  // The main graph: inputs without an initializer become inputs.
  Graph import_main(const OnnxGraph& graph);
  // A body: see OnnxNodeContext::body().
  GraphPtr import_body(const OnnxGraph& graph, const OnnxBodyEntry& enter, const OnnxBodyExit& leave,
                       const std::vector<std::string>& captured) const;

  // See OnnxNodeContext::inlined().
  std::vector<Value> import_inlined(const OnnxGraph& graph, const std::vector<Value>& inputs);

  GraphBuilder& builder() { return *builder_; }
  const OnnxModelContext& model() const { return model_; }
  const OnnxAttributeScope& attributes() const { return attributes_; }
  Value lookup(std::string_view name) const;
  static std::string first_output(const OnnxNode& node);

 private:
  void import_constants(const OnnxGraph& graph);
  void import_nodes(const std::vector<OnnxNode>& nodes);
  void import_node(const OnnxNode& node);
  std::vector<Value> call_function(const OnnxNode& node, const OnnxFunction& function);
  std::vector<Value> results_of(const OnnxGraph& graph) const;
  void bring_constants_in(const OnnxGraph& graph, OnnxGraphImporter& inner) const;
  void define(std::string_view name, Value value);

  const OnnxModelContext& model_;
  OnnxOpsets opsets_;
  OnnxAttributeScope attributes_;
  int depth_;
  std::unique_ptr<GraphBuilder> owned_ = std::make_unique<GraphBuilder>();
  GraphBuilder* builder_ = owned_.get();
  std::map<std::string, Value, std::less<>> scope_;
};

}  // namespace ingot
