#include "ir/einsum.h"

#include <map>
#include <set>

#include "ingot/error.h"

namespace ingot {
namespace {

[[noreturn]] void fail(std::string_view equation, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "einsum equation",
               .name = std::string(equation),
               .expected = std::move(expected),
               .observed = std::move(observed)});
}

// Letters of one term; `ellipsis`: how many axes "..." stands for there.
EinsumLabels parse_term(std::string_view equation, std::string_view term, size_t ellipsis) {
  EinsumLabels labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    char c = term[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else if (term.substr(i, 3) == "..." && !seen) {
      seen = true;
      i += 2;
      for (size_t k = ellipsis; k-- > 0;) labels.push_back(kEllipsisLabel + static_cast<int>(k));
    } else {
      fail(equation, "letters and at most one '...' a term", "'" + std::string(term) + "'");
    }
  }
  return labels;
}

EinsumLabels parse_input(std::string_view equation, std::string_view term, size_t rank) {
  size_t letters = parse_term(equation, term, 0).size();
  bool has_ellipsis = term.find("...") != std::string_view::npos;
  if (letters > rank || (!has_ellipsis && letters != rank))
    fail(equation, fmt::format("'{}' to name {} axes", term, rank), fmt::format("{}", letters));
  return parse_term(equation, term, rank - letters);
}

// All ellipsis axes, then the letters that occur exactly once.
EinsumLabels implicit_output(const std::vector<EinsumLabels>& inputs, size_t ellipsis) {
  EinsumLabels out;
  for (size_t k = ellipsis; k-- > 0;) out.push_back(kEllipsisLabel + static_cast<int>(k));
  std::map<int, int> uses;
  for (const auto& labels : inputs)
    for (int label : labels) ++uses[label];
  for (auto [label, count] : uses)
    if (label < kEllipsisLabel && count == 1) out.push_back(label);
  return out;
}

void check_output(std::string_view equation, const EinsumEquation& e) {
  std::set<int> known, seen;
  for (const auto& labels : e.inputs) known.insert(labels.begin(), labels.end());
  for (int label : e.output)
    if (!known.contains(label) || !seen.insert(label).second)
      fail(equation, "output labels that differ and occur in an operand", "another");
}

}  // namespace

EinsumEquation parse_einsum(std::string_view equation, std::span<const size_t> ranks) {
  std::string text(equation);
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  EinsumEquation out;
  size_t ellipsis = 0;
  for (size_t begin = 0; begin <= left.size();) {
    size_t end = std::min(left.find(',', begin), left.size());
    if (out.inputs.size() >= ranks.size()) fail(equation, fmt::format("{} terms", ranks.size()), "more");
    out.inputs.push_back(parse_input(equation, left.substr(begin, end - begin), ranks[out.inputs.size()]));
    size_t covered = 0;
    for (int label : out.inputs.back()) covered += label >= kEllipsisLabel ? 1 : 0;
    ellipsis = std::max(ellipsis, covered);
    begin = end + 1;
  }
  if (out.inputs.size() != ranks.size())
    fail(equation, fmt::format("{} terms", ranks.size()), fmt::format("{}", out.inputs.size()));
  out.output = arrow == std::string::npos
                   ? implicit_output(out.inputs, ellipsis)
                   : parse_term(equation, std::string_view(text).substr(arrow + 2), ellipsis);
  check_output(equation, out);
  return out;
}

}  // namespace ingot
