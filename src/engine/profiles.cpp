#include "engine/profiles.h"

#include "ingot/error.h"

namespace ingot {
namespace {

std::string range_text(const DimRange& r) { return fmt::format("{}..{}..{}", r.min, r.opt, r.max); }

class Resolver {
 public:
  Resolver(const Graph& graph, const Profile& profile) : graph_(graph), profile_(profile) {}

  SymbolRanges run() {
    for (const Port& input : graph_.inputs()) collect(graph_.type(input.value));
    for (const auto& [name, shapes] : profile_.inputs) bind_input(name, shapes);
    for (const auto& [name, range] : profile_.dims) bind_named(name, range);
    return std::move(ranges_);
  }

 private:
  void collect(const Type& type) {
    if (!type.is_tensor()) return collect(*type.inner);
    if (!type.dims) return;
    for (const Dim& d : *type.dims)
      d.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
        known_.emplace(name, Dim::symbol(name, low, high));
      });
  }

  // A part of the profile: "input" or "dimension 1 of input", and its name.
  struct Place {
    std::string kind;
    const std::string& name;
  };

  [[noreturn]] void fail(const Place& at, std::string expected, std::string observed) const {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = fmt::format("profile '{}', {}", profile_.name, at.kind),
                 .name = at.name,
                 .expected = std::move(expected),
                 .observed = std::move(observed),
                 .remedy = "'ingot inspect --summary MODEL' shows the inputs and their dimensions."});
  }

  const Type& input_type(const std::string& name) const {
    std::vector<std::string> names;
    for (const Port& p : graph_.inputs()) {
      if (p.name == name) return graph_.type(p.value);
      names.push_back(p.name);
    }
    fail({"input", name}, fmt::format("one of the inputs {}", fmt::join(names, ", ")),
         "no input of this name");
  }

  void bind_input(const std::string& name, const ShapeRange& shapes) {
    Place at{"input", name};
    const Type& type = input_type(name);
    if (!type.is_tensor()) fail(at, "a tensor input", to_string(type));
    size_t rank = type.dims ? type.dims->size() : shapes.min.size();
    for (const Shape* s : {&shapes.min, &shapes.opt, &shapes.max})
      if (s->size() != rank) fail(at, fmt::format("shapes of {} dimensions", rank), to_string(*s));
    for (size_t i = 0; i < rank; ++i) {
      DimRange range{shapes.min[i], shapes.opt[i], shapes.max[i]};
      Place dim{fmt::format("dimension {} of input", i), name};
      check_order(dim, range);
      if (type.dims) bind(dim, (*type.dims)[i], range);
    }
  }

  void bind_named(const std::string& name, const DimRange& range) {
    Place at{"dimension", name};
    auto found = known_.find(name);
    if (found == known_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, dim] : known_) names.push_back(known);
      fail(at,
           names.empty() ? "none, as no input has a named dimension"
                         : fmt::format("one of the dimensions {}", fmt::join(names, ", ")),
           "no dimension of this name");
    }
    check_order(at, range);
    bind(at, found->second, range);
  }

  void check_order(const Place& at, const DimRange& r) const {
    if (r.min < 0 || r.min > r.opt || r.opt > r.max) fail(at, "0 <= min <= opt <= max", range_text(r));
  }

  void bind(const Place& at, const Dim& dim, const DimRange& range) {
    if (auto fixed = dim.value()) {
      if (range != DimRange{*fixed, *fixed, *fixed})
        fail(at, fmt::format("{}, which is fixed", *fixed), range_text(range));
      return;
    }
    if (range.min < dim.low() || range.max > dim.high())
      fail(at, fmt::format("{} within {}..{}", dim.to_string(), dim.low(), dim.high()), range_text(range));
    auto symbol = dim.symbol_name();
    if (!symbol) return;  // an expression: its symbols are bound where they stand alone
    auto [it, added] = ranges_.emplace(*symbol, range);
    if (!added && it->second != range)
      fail(at, fmt::format("{} = {}, as elsewhere in the profile", *symbol, range_text(it->second)),
           range_text(range));
  }

  const Graph& graph_;
  const Profile& profile_;
  std::map<std::string, Dim, std::less<>> known_;
  SymbolRanges ranges_;
};

}  // namespace

SymbolRanges resolve_profile(const Graph& graph, const Profile& profile) {
  return Resolver(graph, profile).run();
}

}  // namespace ingot
