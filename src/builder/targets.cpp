#include "builder/targets.h"

#include <array>
#include <climits>
#include <optional>
#include <set>
#include <string_view>

#include "ingot/error.h"
#include "ir/op_info.h"

namespace ingot {
namespace {

// `capability`: of NVIDIA processors, 86 for 8.6; 0 where every type can be computed with.
struct Target {
  std::string_view name;
  int capability = 0;
};
// Without a capability "cuda" stands for all of 8.0 and later; older ones must be named.
constexpr auto kTargets = std::to_array<Target>({{"reference"},
                                                 {"cpu"},
                                                 {"cuda", 80},
                                                 {"cuda:sm75", 75},
                                                 {"cuda:sm80", 80},
                                                 {"cuda:sm86", 86},
                                                 {"cuda:sm89", 89},
                                                 {"cuda:sm90", 90},
                                                 {"cuda:sm100", 100},
                                                 {"cuda:sm120", 120}});
constexpr int kNever = INT_MAX;

// The capability from which on processors compute with a type.
int least_capability(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 80;
    case DType::f8e4m3fn:
    case DType::f8e5m2: return 89;
    case DType::f8e8m0:
    case DType::f4e2m1: return 100;
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz: return kNever;
    default: return 0;
  }
}

const Target* find_target(std::string_view name) {
  const auto* found = std::ranges::find(kTargets, name, &Target::name);
  return found == kTargets.end() ? nullptr : found;
}

[[noreturn]] void refuse_name(std::string name, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "target",
               .name = std::move(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Leave targets out for an engine that runs on cpu and reference."});
}

[[noreturn]] void refuse_type(const Target& target, const Node& node, const Type& type) {
  const int least = least_capability(type.element_dtype());
  const std::string who = least == kNever ? "no cuda target computes with"
                                          : fmt::format("cuda:sm{} and later compute with", least);
  throw Error({.code = ErrorCode::unsupported,
               .object = "target",
               .name = std::string(target.name),
               .expected = fmt::format("no {}, which {}", to_string(type.element_dtype()), who),
               .observed = fmt::format("{} from {} '{}'", to_string(type), to_string(node.op), node.origin),
               .remedy = "Leave the target out, name a later one, or give the model another type."});
}

void check_types_for(const Target& target, const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (const Type& type : node.types)
      if (least_capability(type.element_dtype()) > target.capability) refuse_type(target, node, type);
    for (const GraphPtr& body : node.subgraphs) check_types_for(target, *body);
  }
}

}  // namespace

void check_targets(const std::vector<std::string>& targets) {
  std::vector<std::string_view> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  const std::string known = fmt::format("of {}", fmt::join(names, ", "));
  if (targets.empty()) refuse_name("", "at least one " + known, "none");
  std::set<std::string_view> seen;
  for (const std::string& name : targets) {
    if (!find_target(name)) refuse_name(name, "one " + known, "another name");
    if (!seen.insert(name).second) refuse_name(name, "each target once", "this one twice");
  }
}

void check_types(const Graph& graph, const std::vector<std::string>& targets) {
  for (const std::string& name : targets)
    if (const Target* target = find_target(name); target && target->capability > 0)
      check_types_for(*target, graph);
}

}  // namespace ingot
