#include "engine/refit_table.h"

#include "ingot/error.h"
#include "ir/print.h"

namespace ingot {
namespace {

constexpr std::string_view kHidden = "weight ";

[[noreturn]] void refuse(ErrorCode code, std::string name, std::string expected, std::string observed,
                         std::string remedy) {
  throw Error({.code = code,
               .object = "weight to refit",
               .name = std::move(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

bool is_quantised(DType dtype) { return dtype != DType::string && bit_width(dtype) <= 8; }

bool takes_scales(Op op) { return op == Op::Quantize || op == Op::Dequantize; }

// What is known of the constants of a graph.
class Survey {
 public:
  explicit Survey(const Graph& model)
      : model_(model), is_read_(model.nodes().size()), is_scale_(model.nodes().size()) {
    for (const Port& port : model.outputs()) is_read_[index_of(port.value)] = true;
    for (size_t i = is_read_.size(); i-- > 0;) visit(model.nodes()[i], is_read_[i]);
  }

  const Node& node(size_t i) const { return model_.nodes()[i]; }
  bool is_read(size_t i) const { return is_read_[i] && node(i).op == Op::Constant; }
  // Whether it is content rather than structure: sizes, axes and thresholds are no weights.
  bool is_weight(size_t i) const {
    if (!is_read(i)) return false;
    const Tensor& value = value_of(i);
    if (is_scale_[i]) return true;
    return value.rank() > 0 && (is_floating(value.dtype()) || is_quantised(value.dtype())) &&
           value.dtype() != DType::boolean;
  }
  // An importer's own constants share their origin with the node that they were made for.
  bool has_name(size_t i) const { return !node(i).origin.empty() && !others_.contains(node(i).origin); }
  const Tensor& value_of(size_t i) const { return node(i).as<ConstantAttrs>().value; }
  const Graph& model() const { return model_; }

 private:
  static size_t index_of(Value v) { return static_cast<size_t>(v.node); }

  void visit(const Node& node, bool is_read) {
    if (node.op != Op::Constant) others_.insert(node.origin);
    if (!is_read) return;
    for (Value v : node.operands) {
      if (v.is_none()) continue;
      is_read_[index_of(v)] = true;
      if (takes_scales(node.op)) is_scale_[index_of(v)] = true;
    }
  }

  const Graph& model_;
  std::vector<bool> is_read_;
  std::vector<bool> is_scale_;
  std::set<std::string_view> others_;  // origins of other nodes
};

// All weights means all: one that cannot be named must not be forgotten.
void require_name(const Survey& survey, size_t i) {
  const uint64_t bytes = survey.value_of(i).bytes().size();
  const std::string& origin = survey.node(i).origin;
  if (survey.has_name(i) || (!origin.empty() && bytes <= kLargestInlineConstant)) return;
  refuse(ErrorCode::unsupported, origin, "a name of its own for every weight",
         origin.empty() ? fmt::format("{} of {} without one", to_string(survey.node(i).types[0]), bytes)
                        : fmt::format("{} bytes that were made for a node", bytes),
         "Call GraphBuilder::set_origin() before constant(), or name the weights to replace and build with "
         "RefitMode::individual.");
}

void require_no_weights_in_bodies(const Graph& graph) {
  for (const Node& node : graph.nodes())
    for (const GraphPtr& body : node.subgraphs) {
      const Survey survey(*body);
      for (size_t i = 0; i < body->nodes().size(); ++i)
        if (survey.is_weight(i) && survey.has_name(i))
          refuse(ErrorCode::unsupported, body->nodes()[i].origin, "a weight of the main graph",
                 "one in a body of control flow",
                 "Name the other weights, and build with RefitMode::individual.");
      require_no_weights_in_bodies(*body);
    }
}

class Finder {
 public:
  Finder(const Graph& model, RefitMode mode, const WeightNames& wanted)
      : survey_(model), wants_all_(mode != RefitMode::individual), wanted_(wanted) {}

  std::vector<ModelWeight> run() {
    if (wants_all_) require_no_weights_in_bodies(survey_.model());
    for (size_t i = 0; i < survey_.model().nodes().size(); ++i) look_at(i);
    for (const std::string& name : wanted_)
      if (!found_.contains(name))
        refuse(ErrorCode::invalid_argument, name,
               "the name of a constant of the main graph that a node reads", "none of them",
               "See the initializers of the model.");
    std::vector<ModelWeight> out;
    for (auto& [name, weight] : found_) out.push_back(std::move(weight));
    return out;
  }

 private:
  void look_at(size_t i) {
    if (!survey_.is_read(i)) return;
    const bool is_wanted = survey_.has_name(i) && wanted_.contains(survey_.node(i).origin);
    if (wants_all_ && survey_.is_weight(i)) require_name(survey_, i);
    if (is_wanted) require_content(i);
    if (is_wanted || (wants_all_ && survey_.is_weight(i) && survey_.has_name(i))) add(i);
  }

  // The sizes of other values may follow from whole numbers.
  void require_content(size_t i) const {
    const DType dtype = survey_.value_of(i).dtype();
    if (survey_.is_weight(i) || is_floating(dtype)) return;
    refuse(ErrorCode::invalid_argument, survey_.node(i).origin,
           "elements of floating point or quantised to 8 bits or fewer", std::string(to_string(dtype)),
           "Leave it out: shapes may follow from it.");
  }

  void add(size_t i) {
    const Tensor& value = survey_.value_of(i);
    const std::string& name = survey_.node(i).origin;
    auto [it, added] = found_.try_emplace(name, ModelWeight{name, value, {}});
    if (!added && !it->second.value.identical(value))
      refuse(ErrorCode::invalid_argument, name, "one weight of this name", "two of different content",
             "Rename one of the two.");
    it->second.nodes.push_back(static_cast<int32_t>(i));
  }

  const Survey survey_;
  bool wants_all_;
  const WeightNames& wanted_;
  std::map<std::string, ModelWeight> found_;
};

void copy_notes(const Graph& from, GraphBuilder& to) {
  for (const auto& [key, value] : from.metadata()) to.set_metadata(key, value);
}

// Copies nodes in order; values of some are already there.
class Copy {
 public:
  // A bare copy has no names but those of its inputs and outputs.
  explicit Copy(const Graph& from, bool is_bare = false)
      : from_(from), is_bare_(is_bare), g_(is_bare ? "" : from.name()), results_(from.nodes().size()) {
    if (!is_bare) copy_notes(from, g_);
  }

  GraphBuilder& g() { return g_; }
  std::vector<Value>& results(size_t node) { return results_[node]; }

  void add_inputs(size_t count) {
    for (const Port& port : std::span(from_.inputs()).first(count))
      results_[static_cast<size_t>(port.value.node)] = {g_.input(port.name, from_.type(port.value))};
  }

  Graph finish() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].empty() && from_.nodes()[i].op != Op::Input) add(i);
    for (const Port& port : from_.outputs()) g_.output(port.name, mapped(port.value));
    return std::move(g_).finish();
  }

 private:
  Value mapped(Value v) const {
    return v.is_none() ? v : results_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  }

  void add(size_t i) {
    const Node& node = from_.nodes()[i];
    std::vector<Value> operands;
    for (Value v : node.operands) operands.push_back(mapped(v));
    g_.set_origin(is_bare_ ? "" : node.origin);
    results_[i] =
        g_.add(node.attrs, std::move(operands), node.subgraphs, static_cast<int>(node.types.size()));
    for (size_t k = 0; k < results_[i].size(); ++k) g_.declare(results_[i][k], node.types[k]);
  }

  const Graph& from_;
  bool is_bare_;
  GraphBuilder g_;
  std::vector<std::vector<Value>> results_;
};

std::vector<bool> read_nodes(const Graph& graph) {
  std::vector<bool> is_read(graph.nodes().size());
  auto mark = [&](Value v) {
    if (!v.is_none()) is_read[static_cast<size_t>(v.node)] = true;
  };
  for (const Port& port : graph.outputs()) mark(port.value);
  for (const Node& node : graph.nodes())
    for (Value v : node.operands) mark(v);
  return is_read;
}

}  // namespace

std::vector<ModelWeight> find_weights(const Graph& model, RefitMode mode, const WeightNames& wanted) {
  if (mode != RefitMode::none) return Finder(model, mode, wanted).run();
  if (!wanted.empty())
    refuse(ErrorCode::invalid_argument, *wanted.begin(), "a refit mode with names of weights", "none",
           "Set BuilderConfig::refit to individual.");
  return {};
}

Graph hide_weights(const Graph& model, std::span<const ModelWeight> weights) {
  Copy copy(model);
  copy.add_inputs(model.inputs().size());
  for (const ModelWeight& weight : weights) {
    const Type& type = model.nodes()[static_cast<size_t>(weight.nodes[0])].types[0];
    const Value hidden = copy.g().input(fmt::format("{}{}", kHidden, weight.name), type);
    for (int32_t node : weight.nodes) copy.results(static_cast<size_t>(node)) = {hidden};
  }
  return copy.finish();
}

Graph restore_weights(const Graph& hidden, std::span<const ModelWeight> weights,
                      std::vector<RefitWeight>& table) {
  const size_t own = hidden.inputs().size() - weights.size();
  const std::vector<bool> is_read = read_nodes(hidden);
  Copy copy(hidden);
  copy.add_inputs(own);
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto input = static_cast<size_t>(hidden.inputs()[own + i].value.node);
    if (!is_read[input]) continue;
    copy.g().set_origin(weights[i].name);
    const Value constant = copy.g().constant(weights[i].value);
    copy.results(input) = {constant};
    table.push_back({weights[i].name, {constant.node}});
  }
  return copy.finish();
}

Digest structure_of(const Graph& hidden) {
  Copy copy(hidden, true);
  copy.add_inputs(hidden.inputs().size());
  return sha256(print(copy.finish()));
}

}  // namespace ingot
