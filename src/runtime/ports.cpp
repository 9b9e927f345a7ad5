#include "runtime/ports.h"

#include "engine/profiles.h"
#include "ingot/error.h"

namespace ingot {
namespace {

// Sizes that are open in a profile have the range of the graph, and as typical size the smallest of at least
// 1.
DimRange graph_range(const Dim& dim) {
  int64_t low = std::max<int64_t>(dim.low(), 0);
  int64_t high = std::min(dim.high(), Dim::kMax);
  return {low, std::min(std::max<int64_t>(low, 1), high), high};
}

DimRange dim_range(const Dim& dim, const SymbolRanges& ranges) {
  if (std::optional<std::string_view> symbol = dim.symbol_name()) {
    auto found = ranges.find(*symbol);
    if (found != ranges.end()) return found->second;
  }
  return graph_range(dim);
}

ShapeRange shape_range(const PortInfo& input, const Profile& profile, const SymbolRanges& ranges) {
  auto given = profile.inputs.find(input.name);
  if (given != profile.inputs.end()) return given->second;
  ShapeRange all;
  if (!input.type.dims) return all;
  for (const Dim& dim : *input.type.dims) {
    const DimRange range = dim_range(dim, ranges);
    all.min.push_back(range.min);
    all.opt.push_back(range.opt);
    all.max.push_back(range.max);
  }
  return all;
}

}  // namespace

std::vector<PortInfo> list_inputs(const Graph& graph, const std::vector<Profile>& profiles) {
  std::vector<PortInfo> inputs;
  for (const Port& port : graph.inputs()) inputs.push_back({port.name, graph.type(port.value), {}});
  for (const Profile& profile : profiles) {
    const SymbolRanges ranges = resolve_profile(graph, profile);
    for (PortInfo& input : inputs)
      if (input.type.is_tensor()) input.ranges.push_back(shape_range(input, profile, ranges));
  }
  return inputs;
}

std::vector<PortInfo> list_outputs(const Graph& graph) {
  std::vector<PortInfo> outputs;
  for (const Port& port : graph.outputs()) outputs.push_back({port.name, graph.type(port.value), {}});
  return outputs;
}

std::vector<std::vector<Shape>> shapes_to_prepare(const std::vector<PortInfo>& inputs, size_t profiles,
                                                  Shape ShapeRange::*pick) {
  std::vector<std::vector<Shape>> all;
  for (size_t profile = 0; profile < std::max<size_t>(1, profiles); ++profile) {
    std::vector<Shape> shapes;
    for (const PortInfo& input : inputs) {
      std::optional<Shape> shape = input.type.is_tensor() ? known_shape(input.type) : std::nullopt;
      if (!shape && profile < input.ranges.size()) shape = input.ranges[profile].*pick;
      if (!shape) break;
      shapes.push_back(*shape);
    }
    if (shapes.size() == inputs.size()) all.push_back(std::move(shapes));
  }
  return all;
}

size_t find_port(const std::vector<PortInfo>& ports, std::string_view kind, std::string_view name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
    names.push_back(fmt::format("'{}'", ports[i].name));
  }
  throw Error({.code = ErrorCode::not_found,
               .object = std::string(kind),
               .name = std::string(name),
               .expected = names.empty() ? fmt::format("no {}, there is none", kind)
                                         : fmt::format("one of {}", fmt::join(names, ", ")),
               .remedy = "Names must match exactly, with case and slashes."});
}

bool has_raw_bytes(const Type& type) { return type.is_tensor() && type.dtype != DType::string; }

std::optional<Shape> known_shape(const Type& type, const SymbolSizes& sizes) {
  if (!type.is_ranked()) return std::nullopt;
  Shape shape;
  for (const Dim& dim : *type.dims) {
    std::optional<int64_t> size = evaluate(dim, sizes);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

void require_input_bytes(const PortInfo& input, const Shape& shape, size_t bytes) {
  const size_t needed = byte_size(input.type.dtype, element_count(shape));
  if (bytes == needed) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "input",
               .name = input.name,
               .expected = fmt::format("{} bytes for shape {}", needed, to_string(shape)),
               .observed = fmt::format("{} bytes bound", bytes),
               .remedy = "Set the shape of the memory, or bind memory of this shape."});
}

void require_output_bytes(const PortInfo& output, const Shape& shape, size_t bytes) {
  const size_t needed = byte_size(output.type.dtype, element_count(shape));
  if (bytes >= needed) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "output",
               .name = output.name,
               .expected = fmt::format("at least {} bytes for shape {}", needed, to_string(shape)),
               .observed = fmt::format("{} bytes bound", bytes),
               .remedy = "Bind more memory or set an output allocator."});
}

void require_address(const PortInfo& port, std::string_view kind, const void* memory, size_t bytes) {
  if (memory || bytes == 0) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = std::string(kind),
               .name = port.name,
               .expected = fmt::format("the address of {} bytes", bytes),
               .observed = "null",
               .remedy = "Give null with 0 bytes to undo a binding."});
}

void require_aligned(const PortInfo& port, std::string_view kind, const void* memory) {
  const auto alignment = static_cast<uintptr_t>(std::max(bit_width(port.type.dtype) / 8, 1));
  const auto address = reinterpret_cast<uintptr_t>(memory);
  if (address % alignment == 0) return;
  throw Error(
      {.code = ErrorCode::invalid_argument,
       .object = std::string(kind),
       .name = port.name,
       .expected = fmt::format("memory aligned to {} bytes for {}", alignment, to_string(port.type.dtype)),
       .observed = fmt::format("address {:#x}", address),
       .remedy = "Allocate it for this type, or copy it to an aligned place."});
}

bool allows(const PortInfo& input, size_t profile, const Shape& shape) {
  if (input.ranges.empty()) return true;
  const ShapeRange& range = input.ranges[profile];
  if (!input.type.dims && range.min.empty()) return true;
  if (shape.size() != range.min.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < range.min[i] || shape[i] > range.max[i]) return false;
  return true;
}

}  // namespace ingot
