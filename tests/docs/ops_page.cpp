#include <fmt/format.h>

#include "ir/op_info.h"
#include "ir/print.h"
#include "tests/docs/pages.h"

namespace ingot::docs {
namespace {

std::string describe_types(TypeSet types) {
  struct Named {
    TypeSet set;
    std::string_view name;
  };
  static constexpr Named kNamed[] = {
      {types::Any, "any"},
      {types::NotText, "any but string"},
      {types::Numeric, "number"},
      {types::Floating, "float"},
      {types::Integer, "integer"},
      {types::Signed, "signed integer"},
      {types::Unsigned, "unsigned integer"},
      {types::Boolean, "bool"},
      {types::Text, "string"},
      {types::Int64, "i64"},
      {types::Index, "i32 or i64"},
  };
  for (const Named& named : kNamed)
    if (named.set == types) return std::string(named.name);
  std::vector<std::string_view> names;
  for (int i = 0; i < 64; ++i)
    if (types & (TypeSet{1} << i)) names.push_back(to_string(static_cast<DType>(i)));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string describe_operand(const OperandInfo& operand) {
  std::string text(operand.name);
  if (operand.variadic) text += "...";
  if (operand.optional) text += "?";
  switch (operand.kind) {
    case OperandInfo::Kind::tensor: return text + ": " + describe_types(operand.types);
    case OperandInfo::Kind::sequence: return text + ": sequence";
    case OperandInfo::Kind::any: return text + ": anything";
  }
  return text;
}

std::string describe_value(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return "a tensor";
        else if constexpr (std::is_same_v<T, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(to_string(v));
        else if constexpr (std::is_same_v<T, std::string>)
          return v.empty() ? "\"\"" : v;
        else if constexpr (std::is_same_v<T, int64_t>)
          return v == INT64_MAX ? "end" : fmt::format("{}", v);
        else if constexpr (std::is_same_v<T, double>)
          return fmt::format("{}", v);
        else
          return fmt::format("[{}]", fmt::join(v, ", "));
      },
      value);
}

std::string describe_attrs(const OpInfo& info) {
  std::vector<std::string> items;
  for (const NamedAttr& a : info.list_attrs(info.make_attrs({}).raw()))
    items.push_back(fmt::format("{} = {}", a.name, describe_value(a.value)));
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string describe_traits(const OpInfo& info) {
  static constexpr std::pair<Trait, std::string_view> kNames[] = {
      {Pointwise, "pointwise"},     {Commutative, "commutative"}, {Reduces, "reduces"},
      {Contraction, "contraction"}, {RowWise, "row-wise"},        {Movement, "movement"},
      {Irregular, "irregular"},     {Composite, "composite"},     {Random, "random"},
      {Control, "control"},         {Source, "source"},
  };
  std::vector<std::string_view> names;
  for (const auto& [trait, name] : kNames)
    if (info.is(trait)) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string ops_page() {
  size_t composites = 0;
  for (const OpInfo& info : all_ops()) composites += info.is(Composite);
  std::string page =
      "<!-- Generated from include/ingot/ops.def by tools/make_docs. -->\n# Ops\n\n"
      "The ops of a graph, as the op table has them. An operand with `?` may be absent, one with `...` "
      "repeats. "
      "Attributes show their defaults. A composite op means what its decomposition into other ops "
      "computes.\n\n";
  page += fmt::format("{} ops: {} primitives and {} composites.\n\n", all_ops().size(),
                      all_ops().size() - composites, composites);
  page += "| op | operands | attributes | outputs | traits |\n|---|---|---|---|---|\n";
  for (const OpInfo& info : all_ops()) {
    std::vector<std::string> operands;
    for (const OperandInfo& o : info.operands) operands.push_back(describe_operand(o));
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", info.name, fmt::join(operands, "; "),
                        describe_attrs(info), info.outputs < 0 ? "any" : fmt::format("{}", info.outputs),
                        describe_traits(info));
  }
  return page;
}

}  // namespace ingot::docs
