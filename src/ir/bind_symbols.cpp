#include "ir/bind_symbols.h"

#include "ingot/error.h"

namespace ingot {
namespace {

[[noreturn]] void fail(const std::string& input, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "input",
               .name = input,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Give a value of the type and shape that the graph declares for this input."});
}

std::string in_range(const Dim& dim) {
  if (dim.high() >= Dim::kMax) return fmt::format("{} of at least {}", dim.to_string(), dim.low());
  return fmt::format("{} from {} to {}", dim.to_string(), dim.low(), dim.high());
}

}  // namespace

// A lone symbol takes the size it meets; expressions are checked once all symbols are known.
void SymbolBinder::bind_size(const std::string& input, const Dim& dim, int64_t size) {
  if (size < dim.low() || size > dim.high()) fail(input, in_range(dim), fmt::format("{}", size));
  std::optional<std::string_view> symbol = dim.symbol_name();
  if (!symbol) {
    derived_.push_back({input, dim, size});
    return;
  }
  auto [it, added] = sizes_.emplace(*symbol, SymbolSize{size, input});
  if (!added && it->second.size != size)
    fail(input, fmt::format("{} = {}, as in input '{}'", *symbol, it->second.size, it->second.input),
         fmt::format("{}", size));
}

void SymbolBinder::bind_shape(const std::string& input, const Dims& dims, const Shape& shape) {
  auto differs = [](const Dim& dim, int64_t size) { return dim.is_constant() && dim.constant() != size; };
  if (!std::equal(dims.begin(), dims.end(), shape.begin(), shape.end(), std::not_fn(differs)))
    fail(input, "shape " + to_string(dims), "shape " + to_string(shape));
  for (size_t i = 0; i < shape.size(); ++i)
    if (!dims[i].is_constant()) bind_size(input, dims[i], shape[i]);
}

void SymbolBinder::bind_tensor(const std::string& input, const Type& type, const Datum& datum) {
  if (!datum.is_tensor()) fail(input, to_string(type), datum.is_none() ? "nothing" : "a sequence");
  const Tensor& t = datum.tensor();
  if (t.dtype() != type.dtype)
    fail(input, std::string(to_string(type.dtype)), std::string(to_string(t.dtype())));
  if (type.dims) bind_shape(input, *type.dims, t.shape());
}

void SymbolBinder::bind(const std::string& input, const Type& type, const Datum& datum) {
  switch (type.kind) {
    case Type::Kind::tensor: return bind_tensor(input, type, datum);
    case Type::Kind::optional:
      if (!datum.is_none()) bind(input, *type.inner, datum);
      return;
    case Type::Kind::sequence:
      if (!datum.is_sequence()) fail(input, to_string(type), datum.is_none() ? "nothing" : "a tensor");
      for (const Tensor& t : datum.sequence()) {
        SymbolBinder own;  // each element has its own sizes
        own.bind_tensor(input, *type.inner, t);
        own.finish();
      }
  }
}

SymbolSizes SymbolBinder::finish() {
  for (const Derived& d : derived_) {
    std::optional<int64_t> wanted = evaluate(d.dim, sizes_);
    if (wanted && *wanted != d.size)
      fail(d.input, fmt::format("{} = {}", d.dim.to_string(), *wanted), fmt::format("{}", d.size));
  }
  return std::move(sizes_);
}

void require_input_count(const Graph& graph, size_t given) {
  if (given != graph.inputs().size())
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "graph",
                 .name = graph.name(),
                 .expected = fmt::format("{} inputs", graph.inputs().size()),
                 .observed = fmt::format("{}", given)});
}

SymbolSizes bind_symbols(const Graph& graph, std::span<const Datum> inputs) {
  require_input_count(graph, inputs.size());
  SymbolBinder binder;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = graph.inputs()[i];
    binder.bind(port.name, graph.type(port.value), inputs[i]);
  }
  return binder.finish();
}

std::optional<int64_t> evaluate(const Dim& dim, const SymbolSizes& sizes) {
  Dim bound = dim.substitute([&](std::string_view name) -> std::optional<Dim> {
    auto found = sizes.find(name);
    return found == sizes.end() ? std::nullopt : std::optional<Dim>(found->second.size);
  });
  return bound.value();
}

}  // namespace ingot
