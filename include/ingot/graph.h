#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/export.h"
#include "ingot/ops.h"
#include "ingot/tensor.h"
#include "ingot/type.h"

// A model as typed nodes, and the builder that makes one.
//
// A graph is a pure function: nodes in topological order, each reading earlier ones. Subgraphs (branches,
// loop bodies) see nothing of the graph around them; what they need enters as operands. Nothing converts
// silently: types flow from inputs and attributes, and an operand of the wrong type is an error.
namespace ingot {

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;

// One output of one node; the name of an edge.
struct Value {
  int32_t node = -1;
  int32_t output = 0;

  bool is_none() const { return node < 0; }  // an operand that is absent
  friend bool operator==(const Value&, const Value&) = default;
  friend auto operator<=>(const Value&, const Value&) = default;
};

// The attribute struct of one op, held by its type; shared, never changed.
class Attrs {
 public:
  Attrs() = default;
  template <class A>
  Attrs(A attrs) : op_(A::kOp), held_(std::make_shared<const A>(std::move(attrs))) {}
  Attrs(Op op, std::shared_ptr<const void> held) : op_(op), held_(std::move(held)) {}

  Op op() const { return op_; }
  const void* raw() const { return held_.get(); }
  template <class A>
  const A& as() const {
    check(A::kOp);
    return *static_cast<const A*>(held_.get());
  }

 private:
  INGOT_API void check(Op wanted) const;

  Op op_ = Op::Input;
  std::shared_ptr<const void> held_;
};

struct Node {
  Op op;
  std::vector<Value> operands;
  Attrs attrs;
  std::vector<GraphPtr> subgraphs;
  std::vector<Type> types;  // one per output
  std::string origin;       // where it came from, for messages: the name of the ONNX node; may be empty

  template <class A>
  const A& as() const {
    return attrs.as<A>();
  }
};

struct Port {
  std::string name;
  Value value;
};

// Immutable. Copies share nothing mutable; reading from several threads is safe.
class INGOT_API Graph {
 public:
  const std::string& name() const { return name_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  // Free text that travels with the model (labels, alphabets, licences).
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  const Node& node(Value v) const { return nodes_.at(static_cast<size_t>(v.node)); }
  const Type& type(Value v) const { return node(v).types.at(static_cast<size_t>(v.output)); }

 private:
  friend class GraphBuilder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::map<std::string, std::string> metadata_;
};

template <int N>
struct OpResult {
  using type = std::array<Value, N>;
};
template <>
struct OpResult<1> {
  using type = Value;
};
template <>
struct OpResult<-1> {
  using type = std::vector<Value>;
};

// Builds one graph. Types and shapes are inferred, and checked, as each node is added; a violation throws
// Error(invalid_argument) that names the op, the operand and what was expected. One thread at a time.
//
//   GraphBuilder g("scorer");
//   Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("batch"), 784}));
//   g.output("y", g.relu(g.matmul(x, g.constant(weights))));
//   Graph graph = std::move(g).finish();
class INGOT_API GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = {});
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;
  ~GraphBuilder();

  Value input(std::string name, Type type);
  void output(std::string name, Value value);
  Value constant(Tensor value) { return constant(ConstantAttrs{std::move(value)}); }
  void set_metadata(std::string key, std::string value);
  // Names what the nodes added next stand for, until the next call.
  void set_origin(std::string origin);

  // One method per row of ops.def, e.g. `Value softmax(Value x, SoftmaxAttrs attrs = {})`. An absent optional
  // operand is a default Value.
#define IN(name, types) Value name,
#define OPT(name, types) Value name,
#define VAR(name, types) const std::vector<Value>&name,
#define SEQ(name) Value name,
#define ANY(name) Value name,
#define MANY(name) const std::vector<Value>&name,
#define MANY_OUT -1
#define OP(Name, text, operands, outputs, attributes, rule, traits) \
  typename OpResult<outputs>::type text(operands Name##Attrs attrs = {});
#define OP_CONTROL(...)
#include "ingot/ops.def"
#undef IN
#undef OPT
#undef VAR
#undef SEQ
#undef ANY
#undef MANY
#undef MANY_OUT

  // As many parts as wanted, of the given sizes, or equal ones where `sizes` is none.
  std::vector<Value> split(Value x, Value sizes, int parts, SplitAttrs attrs = {});

  // Control flow. A body is a graph of its own; its last inputs receive `captures`, the outer values it
  // reads. Types of results cover every path: a size that differs becomes a fresh symbol, a rank that differs
  // an unknown rank.
  //
  // Runs one of two branches, which have equally many outputs. `condition`: bool of one element.
  std::vector<Value> if_else(Value condition, GraphPtr then_branch, GraphPtr else_branch,
                             const std::vector<Value>& captures = {});
  // Runs the body while `condition` (none: true) holds, at most `max_trip` times (i64; none: no limit).
  // Body inputs: iteration i64[], condition bool[], states, captures. Its outputs: condition, states, and
  // values of which each run gives one slice. Results: the last states, then the slices stacked along a new
  // first axis.
  std::vector<Value> loop(Value max_trip, Value condition, const std::vector<Value>& states, GraphPtr body,
                          const std::vector<Value>& captures = {});
  // Runs the body once per slice of `inputs`. Body inputs: states, slices, captures. Its outputs: states, and
  // values stacked as in loop(). The axes and directions in `attrs` are one per input or output, or none:
  // axis 0, forwards. The counts in `attrs` are set here.
  std::vector<Value> scan(const std::vector<Value>& states, const std::vector<Value>& inputs, GraphPtr body,
                          const std::vector<Value>& captures = {}, ScanAttrs attrs = {});

  // The general form. `output_count` is needed only where the node decides how many outputs it has.
  std::vector<Value> add(Attrs attrs, std::vector<Value> operands, std::vector<GraphPtr> subgraphs = {},
                         int output_count = -1);

  // Replaces an inferred type by one known from elsewhere. Throws Error(invalid_argument) where the two
  // exclude each other.
  void declare(Value v, Type type);

  const Node& node(Value v) const;  // valid until the next node is added
  const Type& type(Value v) const;
  DType dtype(Value v) const { return type(v).dtype; }
  bool is_ranked(Value v) const { return type(v).is_ranked(); }
  const Dims& dims(Value v) const;  // throws Error(invalid_argument) where the rank is unknown
  int64_t rank(Value v) const { return static_cast<int64_t>(dims(v).size()); }
  // The content of a value that is known while building.
  std::optional<Tensor> constant_value(Value v) const;
  // The content of an integer value of rank 0 or 1 as far as shape arithmetic knows it.
  std::optional<std::vector<Dim>> known_values(Value v) const;
  // A dimension nothing is known of, with a name no other has.
  Dim fresh_dim(std::string_view hint);

  // Checks the whole and gives the graph; the builder is empty after.
  Graph finish() &&;
  // The same without the check of the whole: for a graph made node by node from one that was checked.
  Graph finish_derived() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
