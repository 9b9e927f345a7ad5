#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/model_context.h"
#include "ingot/graph.h"

namespace ingot {

class OnnxGraphImporter;

// Attribute values of a function call, for attributes inside the function that refer to them.
using OnnxAttributeScope = std::map<std::string_view, const OnnxAttribute*>;

using OnnxBodyEntry = std::function<std::vector<Value>(GraphBuilder&)>;
using OnnxBodyExit = std::function<void(GraphBuilder&, const std::vector<Value>&)>;

// One node while it is imported: what an importer function sees. Every failure names the node, its op, domain
// and opset.
class OnnxNodeContext {
 public:
  OnnxNodeContext(OnnxGraphImporter& graph, const OnnxNode& node, int64_t opset);

  GraphBuilder& g() const;
  int64_t opset() const { return opset_; }
  const OnnxNode& node() const { return node_; }

  // Inputs. A missing optional input is a none value.
  size_t input_count() const { return node_.inputs.size(); }
  bool has(size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  Value in(size_t i) const;           // throws where it is missing
  Value optional(size_t i) const;     // none where it is missing
  std::vector<Value> inputs() const;  // all; missing ones are none
  const Type& type(size_t i) const { return g().type(in(i)); }
  DType dtype(size_t i) const { return type(i).dtype; }
  // The content of an input that must be known while importing; `what` says in the error why.
  Tensor constant(size_t i, std::string_view what) const;
  std::optional<std::vector<int64_t>> known_ints(size_t i) const;
  // A vector of i64 that early opsets give as an attribute and later ones as an input. None where it is
  // missing.
  Value ints_of(size_t i, std::string_view attribute, bool is_attribute) const;

  // Outputs.
  size_t output_count() const { return node_.outputs.size(); }
  bool wants(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  // Attributes. The forms without a default throw Error(corrupt) where the attribute is missing; all throw
  // where it has another type.
  bool has_attr(std::string_view name) const { return find(name) != nullptr; }
  int64_t int_attr(std::string_view name) const;
  int64_t int_attr(std::string_view name, int64_t missing) const;
  bool flag_attr(std::string_view name, bool missing) const { return int_attr(name, missing ? 1 : 0) != 0; }
  double float_attr(std::string_view name) const;
  double float_attr(std::string_view name, double missing) const;
  std::string text_attr(std::string_view name, std::string_view missing) const;
  std::vector<int64_t> ints_attr(std::string_view name) const;  // empty where it is missing
  std::vector<double> floats_attr(std::string_view name) const;
  std::vector<std::string> texts_attr(std::string_view name) const;
  DType dtype_attr(std::string_view name) const;
  DType dtype_attr(std::string_view name, DType missing) const;
  std::optional<Tensor> tensor_attr(std::string_view name) const;
  const OnnxGraph& graph_attr(std::string_view name) const;
  const OnnxAttribute* find(std::string_view name) const;

  // A text attribute with a fixed set of spellings.
  template <class E>
  E enum_attr(std::string_view name, std::string_view missing,
              std::initializer_list<std::pair<std::string_view, E>> spellings) const {
    std::string text = text_attr(name, missing);
    std::vector<std::string_view> known;
    for (const auto& [spelling, value] : spellings) {
      if (text == spelling) return value;
      known.push_back(spelling);
    }
    fail_spelling(name, text, known);
  }

  // Subgraphs. The names bodies read from outside, in order, each once; they become the last inputs of each
  // body. Constants are repeated inside the bodies instead, and missing optional inputs are missing inside as
  // well.
  std::vector<std::string> captures(std::initializer_list<const OnnxGraph*> bodies) const;
  std::vector<Value> values_of(const std::vector<std::string>& names) const;
  // Imports a body. Its own inputs have the given types, which stand instead of those it declares.
  GraphPtr body(const OnnxGraph& graph, const std::vector<Type>& inputs,
                const std::vector<std::string>& captured) const;
  // The same where the body's own inputs and outputs are not those of the new graph: `enter` declares inputs
  // and gives what the body's inputs stand for, `leave` receives the body's results and declares outputs.
  GraphPtr body(const OnnxGraph& graph, const OnnxBodyEntry& enter, const OnnxBodyExit& leave,
                const std::vector<std::string>& captured) const;

  // Imports a body into the graph around it, its inputs standing for the given values.
  std::vector<Value> inlined(const OnnxGraph& graph, const std::vector<Value>& inputs = {}) const;

  // "This model is valid, we cannot run it": unsupported.
  [[noreturn]] void fail_unsupported(std::string expected, std::string observed) const;
  // "This model breaks the ONNX rules": corrupt.
  [[noreturn]] void fail_invalid(std::string expected, std::string observed) const;

 private:
  [[noreturn]] void fail_spelling(std::string_view name, const std::string& text,
                                  const std::vector<std::string_view>& known) const;
  const OnnxAttribute& get(std::string_view name, OnnxAttributeType type) const;
  const OnnxAttribute* find(std::string_view name, OnnxAttributeType type) const;
  std::string describe() const;

  OnnxGraphImporter& graph_;
  const OnnxNode& node_;
  int64_t opset_;
};

}  // namespace ingot
