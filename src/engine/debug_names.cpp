#include "engine/debug_names.h"

#include <algorithm>
#include <sstream>

#include "ingot/error.h"

namespace ingot {
namespace {

constexpr const char* kKey = "ingot.debug_tensors";

[[noreturn]] void refuse(const std::string& name, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "debug tensor",
               .name = name,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Make the value an output of the graph and name it once in "
                         "BuilderConfig::debug_tensors."});
}

bool is_raw(const Type& type) { return type.is_tensor() && type.dtype != DType::string; }

}  // namespace

void require_debug_outputs(const Graph& graph, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const auto port = std::ranges::find(graph.outputs(), names[i], &Port::name);
    if (port == graph.outputs().end() || names[i].find('\n') != std::string::npos)
      refuse(names[i], "the name of an output of the graph, without line ends", "another name");
    if (!is_raw(graph.type(port->value)))
      refuse(names[i], "a tensor of numbers", to_string(graph.type(port->value)));
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i))
      refuse(names[i], "each name once", "it twice");
  }
  if (!names.empty() && names.size() == graph.outputs().size())
    refuse(names[0], "an output that is no debug tensor", "none");
}

Notes with_debug_names(Notes notes, const std::vector<std::string>& names) {
  notes.erase(kKey);
  if (!names.empty()) notes[kKey] = fmt::format("{}", fmt::join(names, "\n"));
  return notes;
}

std::vector<std::string> debug_names(const Notes& notes) {
  std::vector<std::string> names;
  const auto found = notes.find(kKey);
  if (found == notes.end()) return names;
  std::istringstream lines(found->second);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

}  // namespace ingot
