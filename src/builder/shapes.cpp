#include "builder/shapes.h"

#include <set>

#include "engine/profiles.h"
#include "ingot/error.h"
#include "ir/substitute.h"

namespace ingot {
namespace {

using Binding = std::map<std::string, Dim, std::less<>>;

// The same graph with other symbols in its types. Subgraphs have symbols of their own and stay.
Graph substitute_symbols(const Graph& graph, const Binding& binding) {
  if (binding.empty()) return graph;
  auto replaced = [&](const Type& type) {
    return substitute(type, [&](std::string_view name) -> std::optional<Dim> {
      auto found = binding.find(name);
      return found == binding.end() ? std::nullopt : std::optional<Dim>(found->second);
    });
  };
  GraphBuilder g(graph.name());
  for (const auto& [key, value] : graph.metadata()) g.set_metadata(key, value);
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::Input) {
      g.input(node.as<InputAttrs>().name, replaced(node.types[0]));
      continue;
    }
    g.set_origin(node.origin);
    auto values = g.add(node.attrs, node.operands, node.subgraphs, static_cast<int>(node.types.size()));
    for (size_t i = 0; i < values.size(); ++i) g.declare(values[i], replaced(node.types[i]));
  }
  for (const Port& p : graph.outputs()) g.output(p.name, p.value);
  return std::move(g).finish();
}

std::map<std::string, DimRange, std::less<>> symbols_of_inputs(const Graph& graph) {
  std::map<std::string, DimRange, std::less<>> out;
  for (const Port& p : graph.inputs()) {
    const Type& type = graph.type(p.value);
    if (!type.is_ranked()) continue;
    for (const Dim& d : *type.dims)
      d.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
        out.emplace(name, DimRange{low, low, high});
      });
  }
  return out;
}

[[noreturn]] void fail_name(const std::string& input, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "names for the dimensions of input",
               .name = input,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "'ingot inspect --summary MODEL' shows its dimensions."});
}

const Dims& dims_of(const Graph& graph, const std::string& input) {
  std::vector<std::string> known;
  for (const Port& p : graph.inputs()) {
    const Type& type = graph.type(p.value);
    if (p.name == input && type.is_ranked()) return *type.dims;
    if (type.is_ranked()) known.push_back(p.name);
  }
  fail_name(input, fmt::format("one of the tensor inputs of known rank: {}", fmt::join(known, ", ")),
            "none of them");
}

// Old name -> new name.
std::map<std::string, std::string> renamings(const Graph& graph,
                                             const std::map<std::string, std::vector<std::string>>& names) {
  std::map<std::string, std::string> out;
  for (const auto& [input, list] : names) {
    const Dims& dims = dims_of(graph, input);
    if (list.size() != dims.size())
      fail_name(input, fmt::format("{} names", dims.size()), fmt::format("{}", list.size()));
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].empty()) continue;
      auto symbol = dims[i].symbol_name();
      if (!symbol)
        fail_name(input, fmt::format("no name for dimension {}, which is {}", i, dims[i].to_string()),
                  "'" + list[i] + "'");
      auto [it, added] = out.emplace(*symbol, list[i]);
      if (!added && it->second != list[i])
        fail_name(input, fmt::format("'{}', as given to this dimension elsewhere", it->second),
                  "'" + list[i] + "'");
    }
  }
  return out;
}

}  // namespace

Graph name_dimensions(const Graph& graph, const std::map<std::string, std::vector<std::string>>& names) {
  auto renamed = renamings(graph, names);
  auto ranges = symbols_of_inputs(graph);
  std::map<std::string, DimRange> merged;  // by new name
  for (const auto& [symbol, range] : ranges) {
    auto found = renamed.find(symbol);
    const std::string& name = found == renamed.end() ? symbol : found->second;
    auto [it, added] = merged.emplace(name, range);
    if (!added) it->second = {std::max(it->second.min, range.min), 0, std::min(it->second.max, range.max)};
  }
  Binding binding;
  for (const auto& [symbol, range] : ranges) {
    auto found = renamed.find(symbol);
    const std::string& name = found == renamed.end() ? symbol : found->second;
    const DimRange& whole = merged.at(name);
    if (name == symbol && whole.min == range.min && whole.max == range.max) continue;
    if (whole.min > whole.max)
      fail_name(name, "dimensions whose ranges meet", "ranges without a common size");
    binding.emplace(symbol, Dim::symbol(name, whole.min, whole.max));
  }
  return substitute_symbols(graph, binding);
}

Graph apply_profiles(const Graph& graph, const std::vector<Profile>& profiles) {
  std::map<std::string, std::vector<DimRange>> given;
  std::set<std::string> names;
  for (const Profile& profile : profiles) {
    if (!names.insert(profile.name).second)
      throw Error({.code = ErrorCode::invalid_argument,
                   .object = "profile",
                   .name = profile.name,
                   .expected = "names that differ",
                   .observed = "this name twice",
                   .remedy = "Rename one of the two."});
    for (const auto& [symbol, range] : resolve_profile(graph, profile)) given[symbol].push_back(range);
  }
  Binding binding;
  for (const auto& [symbol, ranges] : given) {
    if (ranges.size() != profiles.size()) continue;  // a profile without it allows all sizes
    int64_t low = std::ranges::min(ranges, {}, &DimRange::min).min;
    int64_t high = std::ranges::max(ranges, {}, &DimRange::max).max;
    binding.emplace(symbol, Dim::symbol(symbol, low, high));
  }
  return substitute_symbols(graph, binding);
}

}  // namespace ingot
