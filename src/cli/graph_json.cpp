#include "cli/graph_json.h"

#include <nlohmann/json.hpp>

#include "ir/op_info.h"
#include "ir/print.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const Node& source, Value v) {
  return source.types.size() == 1 ? std::to_string(v.node) : fmt::format("{}#{}", v.node, v.output);
}

Json attribute_json(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, DType>)
          return to_string(v);
        else if constexpr (std::is_same_v<T, Tensor>)
          return {{"dtype", to_string(v.dtype())}, {"shape", v.shape()}, {"bytes", v.bytes().size()}};
        else
          return v;
      },
      value);
}

Json node_json(const Graph& graph, const Node& node, size_t id) {
  Json operands = Json::array(), attributes = Json::object(), types = Json::array();
  for (const Value v : node.operands)
    operands.push_back(v.is_none() ? Json(nullptr) : value_json(graph.node(v), v));
  for (const NamedAttr& a : list_attrs(node.attrs)) attributes[std::string(a.name)] = attribute_json(a.value);
  for (const Type& t : node.types) types.push_back(to_string(t));
  Json out = {{"id", std::to_string(id)},
              {"op", to_string(node.op)},
              {"operands", operands},
              {"attributes", attributes},
              {"types", types}};
  if (!node.origin.empty()) out["origin"] = node.origin;
  for (const GraphPtr& body : node.subgraphs) out["subgraphs"].push_back(graph_json(*body));
  return out;
}

Json ports_json(const Graph& graph, const std::vector<Port>& ports) {
  Json out = Json::array();
  for (const Port& p : ports)
    out.push_back({{"name", p.name},
                   {"type", to_string(graph.type(p.value))},
                   {"value", value_json(graph.node(p.value), p.value)}});
  return out;
}

}  // namespace

Json graph_json(const Graph& graph) {
  Json nodes = Json::array();
  for (size_t i = 0; i < graph.nodes().size(); ++i) nodes.push_back(node_json(graph, graph.nodes()[i], i));
  return {{"name", graph.name()},
          {"inputs", ports_json(graph, graph.inputs())},
          {"outputs", ports_json(graph, graph.outputs())},
          {"nodes", nodes},
          {"metadata", graph.metadata()}};
}

}  // namespace ingot::cli
