#include "ir/bind_symbols.h"

#include "ingot/error.h"

namespace ingot {
namespace {

[[noreturn]] void fail(const std::string& input, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "input",
               .name = input,
               .expected = std::move(expected),
               .observed = std::move(observed)});
}

// A lone symbol takes the size it meets; expressions are checked once all symbols are known.
void bind(const std::string& input, const Dim& dim, int64_t size, SymbolSizes& sizes) {
  if (dim.is_constant()) {
    if (dim.constant() != size) fail(input, fmt::format("size {}", dim.constant()), fmt::format("{}", size));
    return;
  }
  if (size < dim.low() || size > dim.high())
    fail(input, fmt::format("{} in [{}, {}]", dim.to_string(), dim.low(), dim.high()),
         fmt::format("{}", size));
  dim.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
    if (dim != Dim::symbol(name, low, high)) return;
    auto [it, added] = sizes.emplace(name, size);
    if (!added && it->second != size)
      fail(input, fmt::format("{} = {}, as in an earlier input", name, it->second), fmt::format("{}", size));
  });
}

void check_tensor(const std::string& input, const Type& type, const Datum& datum, SymbolSizes& sizes) {
  if (!datum.is_tensor()) fail(input, to_string(type), datum.is_none() ? "nothing" : "a sequence");
  const Tensor& t = datum.tensor();
  if (t.dtype() != type.dtype)
    fail(input, std::string(to_string(type.dtype)), std::string(to_string(t.dtype())));
  if (!type.dims) return;
  if (type.dims->size() != t.shape().size()) fail(input, to_string(type), "shape " + to_string(t.shape()));
  for (size_t i = 0; i < t.shape().size(); ++i) bind(input, (*type.dims)[i], t.shape()[i], sizes);
}

void check_datum(const std::string& input, const Type& type, const Datum& datum, SymbolSizes& sizes) {
  switch (type.kind) {
    case Type::Kind::tensor: return check_tensor(input, type, datum, sizes);
    case Type::Kind::optional:
      if (!datum.is_none()) check_datum(input, *type.inner, datum, sizes);
      return;
    case Type::Kind::sequence:
      if (!datum.is_sequence()) fail(input, to_string(type), datum.is_none() ? "nothing" : "a tensor");
      for (const Tensor& t : datum.sequence()) {
        SymbolSizes own;  // each element has its own sizes
        check_tensor(input, *type.inner, t, own);
      }
  }
}

}  // namespace

SymbolSizes bind_symbols(const Graph& graph, std::span<const Datum> inputs) {
  if (inputs.size() != graph.inputs().size())
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "graph",
                 .name = graph.name(),
                 .expected = fmt::format("{} inputs", graph.inputs().size()),
                 .observed = fmt::format("{}", inputs.size())});
  SymbolSizes sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = graph.inputs()[i];
    check_datum(port.name, graph.type(port.value), inputs[i], sizes);
  }
  return sizes;
}

std::optional<int64_t> evaluate(const Dim& dim, const SymbolSizes& sizes) {
  Dim bound = dim.substitute([&](std::string_view name) -> std::optional<Dim> {
    auto found = sizes.find(name);
    return found == sizes.end() ? std::nullopt : std::optional<Dim>(found->second);
  });
  return bound.value();
}

}  // namespace ingot
