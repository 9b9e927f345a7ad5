#include "ir/print.h"

#include <cmath>

#include "ir/numeric.h"
#include "ir/op_info.h"
#include "ir/text.h"

namespace ingot {
namespace {

// Hexadecimal floats are exact; non-finite values would lose their bits, so those constants are written as
// bytes.
bool fits_list(const Tensor& t, const PrintOptions& options) {
  if (t.count() > options.largest_list) return false;
  if (!is_floating(t.dtype())) return true;
  std::vector<double> values(static_cast<size_t>(t.count()));
  decode_to_f64(t.dtype(), t.bytes().data(), t.count(), values.data());
  return std::ranges::all_of(values,
                             [](double x) { return std::isfinite(x) && (x != 0 || !std::signbit(x)); });
}

template <class T>
std::string list(const std::vector<T>& items) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    if constexpr (std::is_same_v<T, std::string>)
      out += quote(items[i]);
    else
      out += fmt::format("{}", items[i]);
  }
  return out + "]";
}

std::string print_elements(const Tensor& t, const PrintOptions& options) {
  if (t.is_string()) return list(std::vector<std::string>(t.strings().begin(), t.strings().end()));
  auto count = static_cast<size_t>(t.count());
  if (!fits_list(t, options)) {
    if (options.largest_constant > 0 && static_cast<int64_t>(t.bytes().size()) > options.largest_constant)
      return "...";
    return "0x" + hex(t.bytes());
  }
  if (is_floating(t.dtype())) {
    std::vector<double> values(count);
    decode_to_f64(t.dtype(), t.bytes().data(), t.count(), values.data());
    return list(values);
  }
  if (is_signed_integer(t.dtype())) {
    std::vector<int64_t> values(count);
    decode_to_i64(t.dtype(), t.bytes().data(), t.count(), values.data());
    return list(values);
  }
  std::vector<uint64_t> values(count);
  decode_to_u64(t.dtype(), t.bytes().data(), t.count(), values.data());
  return list(values);
}

std::string print_tensor(const Tensor& t, const PrintOptions& options) {
  return to_string(Type::of(t)) + " " + print_elements(t, options);
}

std::string print_value(const AttrValue& value, const PrintOptions& options) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_same_v<T, std::string>)
          return quote(v);
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(to_string(v));
        else if constexpr (std::is_same_v<T, Tensor>)
          return print_tensor(v, options);
        else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>)
          return fmt::format("{}", v);
        else
          return list(v);
      },
      value);
}

bool same(const AttrValue& a, const AttrValue& b) {
  if (std::holds_alternative<Tensor>(a)) return std::get<Tensor>(a).identical(std::get<Tensor>(b));
  return print_value(a, {}) == print_value(b, {});
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string print(const Graph& graph, const std::string& indent) {
    std::string out = fmt::format("graph {} {{\n", quote(graph.name()));
    std::string inner = indent + "  ";
    for (const auto& [key, value] : graph.metadata())
      out += fmt::format("{}metadata {} = {}\n", inner, quote(key), quote(value));
    for (const auto& [name, range] : ranges(graph))
      out += fmt::format("{}symbol {} in [{}, {}]\n", inner, Dim::symbol(name).to_string(), range.first,
                         range.second);
    for (size_t i = 0; i < graph.nodes().size(); ++i) out += inner + print_node(graph, i, inner) + "\n";
    for (const Port& p : graph.outputs())
      out += fmt::format("{}output {} = {}\n", inner, quote(p.name), print_ref(graph, p.value));
    return out + indent + "}";
  }

 private:
  using Range = std::pair<int64_t, int64_t>;

  // Symbols whose range is not the default.
  static std::map<std::string, Range> ranges(const Graph& graph) {
    std::map<std::string, Range> out;
    std::function<void(const Type&)> visit = [&](const Type& type) {
      if (!type.is_tensor()) return visit(*type.inner);
      if (!type.dims) return;
      for (const Dim& d : *type.dims)
        d.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
          if (low != 0 || high != Dim::kMax) out.emplace(name, Range(low, high));
        });
    };
    for (const Node& node : graph.nodes())
      for (const Type& type : node.types) visit(type);
    return out;
  }

  std::string print_node(const Graph& graph, size_t index, const std::string& indent) {
    const Node& node = graph.nodes()[index];
    std::string out = fmt::format("%{}", index);
    if (node.types.size() != 1) out += fmt::format(":{}", node.types.size());
    out += " = ";
    if (node.op == Op::Input) {
      out += "input " + quote(node.as<InputAttrs>().name) + " : " + to_string(node.types[0]);
    } else if (node.op == Op::Constant) {
      out += "constant " + print_tensor(node.as<ConstantAttrs>().value, options_);
    } else {
      out += print_call(graph, node, indent);
    }
    return node.origin.empty() ? out : out + " @" + quote(node.origin);
  }

  std::string print_call(const Graph& graph, const Node& node, const std::string& indent) {
    std::vector<std::string> operands, types;
    for (Value v : node.operands) operands.push_back(print_ref(graph, v));
    for (const Type& type : node.types) types.push_back(to_string(type));
    std::string out = fmt::format("{}({})", to_string(node.op), fmt::join(operands, ", "));
    if (std::string attrs = print_attrs(node.attrs); !attrs.empty()) out += " " + attrs;
    for (size_t i = 0; i < node.subgraphs.size(); ++i)
      out += (i == 0 ? " (" : ", ") + print(*node.subgraphs[i], indent);
    if (!node.subgraphs.empty()) out += ")";
    return out + " : " + fmt::format("{}", fmt::join(types, ", "));
  }

  static std::string print_ref(const Graph& graph, Value v) {
    if (v.is_none()) return "_";
    if (graph.node(v).types.size() == 1) return fmt::format("%{}", v.node);
    return fmt::format("%{}#{}", v.node, v.output);
  }

  const PrintOptions& options_;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  return Printer(options).print(graph, "") + "\n";
}

std::string print_attrs(const Attrs& attrs) {
  auto given = list_attrs(attrs);
  auto defaults = list_attrs(op_info(attrs.op()).make_attrs({}));
  std::vector<std::string> items;
  for (size_t i = 0; i < given.size(); ++i)
    if (!same(given[i].value, defaults[i].value))
      items.push_back(fmt::format("{} = {}", given[i].name, print_value(given[i].value, {})));
  return items.empty() ? "" : fmt::format("{{{}}}", fmt::join(items, ", "));
}

}  // namespace ingot
