#include "runtime/engine_weights.h"

#include <set>

namespace ingot {
namespace {

const Tensor& content_of(const Node& node) { return node.as<ConstantAttrs>().value; }

WeightInfo info_of(std::string name, const Tensor& value, bool identical) {
  return {.name = std::move(name),
          .dtype = value.dtype(),
          .shape = value.shape(),
          .bytes = value.bytes().size(),
          .missing = false,
          .identical = identical,
          .sha256 = {}};
}

// Constants of a graph and its bodies that no weight of the table stands for, by what they read as.
void collect(const Graph& graph, const std::set<int32_t>& listed, bool is_main,
             std::map<const std::byte*, const Node*>& out) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (const GraphPtr& body : node.subgraphs) collect(*body, listed, false, out);
    if (node.op != Op::Constant || (is_main && listed.contains(static_cast<int32_t>(i)))) continue;
    const Tensor& value = content_of(node);
    if (!value.is_string()) out.emplace(value.bytes().data(), &node);
  }
}

std::string unused_name(const std::string& wanted, const std::set<std::string>& taken) {
  std::string name = wanted.empty() ? "constant" : wanted;
  for (int i = 2; taken.contains(name); ++i) name = fmt::format("{} #{}", wanted, i);
  return name;
}

}  // namespace

std::vector<WeightSlot> EngineWeights::slots() const {
  std::map<const std::byte*, const MissingWeights*> missing;
  for (const MissingWeights& m : content.missing) missing.emplace(m.zeros, &m);
  std::vector<WeightSlot> out;
  std::set<int32_t> listed;
  std::set<std::string> names;
  auto add = [&](WeightInfo info, const Tensor& value, std::vector<int32_t> nodes) {
    const auto found = missing.find(value.bytes().data());
    info.missing = found != missing.end();
    if (info.missing) info.sha256 = to_hex(found->second->sha256);
    names.insert(info.name);
    out.push_back({std::move(info), std::move(nodes), found == missing.end() ? nullptr : found->first});
  };
  for (const RefitWeight& weight : content.weights) {
    listed.insert(weight.nodes.begin(), weight.nodes.end());
    const Tensor& value = content_of(graph->nodes()[static_cast<size_t>(weight.nodes[0])]);
    add(info_of(weight.name, value, content.refit == RefitMode::identical), value, weight.nodes);
  }
  std::map<const std::byte*, const Node*> others;
  collect(*graph, listed, true, others);
  for (const MissingWeights& m : content.missing)
    if (const auto found = others.find(m.zeros); found != others.end())
      add(info_of(unused_name(m.name, names), content_of(*found->second), true), content_of(*found->second),
          {});
  std::ranges::sort(out, {}, [](const WeightSlot& slot) -> const std::string& { return slot.info.name; });
  return out;
}

std::string describe_missing(const std::vector<MissingWeights>& missing) {
  uint64_t bytes = 0;
  for (const MissingWeights& weights : missing) bytes += weights.size;
  return fmt::format("stripped of {} constants, {} bytes", missing.size(), bytes);
}

std::string describe_deferred(const Graph& graph) {
  constexpr size_t kMostListed = 20;
  std::map<const std::byte*, const Node*> all;
  collect(graph, {}, false, all);
  std::vector<std::string> shown;
  size_t count = 0;
  for (const auto& [address, node] : all) {
    if (content_of(*node).bytes().size() <= kLargestInlineConstant) continue;
    if (++count <= kMostListed) shown.push_back(fmt::format("'{}'", node->origin));
  }
  return fmt::format("{} that are deferred: {}{}", count, fmt::join(shown, ", "),
                     count > kMostListed ? fmt::format(" and {} more", count - kMostListed) : "");
}

}  // namespace ingot
