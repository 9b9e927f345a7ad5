#pragma once

#include "ingot/graph.h"
#include "ingot/runtime.h"
#include "ir/bind_symbols.h"

namespace ingot {

// The inputs of a graph with the shapes that the profiles allow.
std::vector<PortInfo> list_inputs(const Graph& graph, const std::vector<Profile>& profiles);
std::vector<PortInfo> list_outputs(const Graph& graph);

// The index of a port. `kind` is "input" or "output". Throws Error(not_found), naming those that exist.
size_t find_port(const std::vector<PortInfo>& ports, std::string_view kind, std::string_view name);

// Whether the port is memory to read or write: a tensor, not of strings.
bool has_raw_bytes(const Type& type);

// What the sizes of a tensor type are; empty where one is not known.
std::optional<Shape> known_shape(const Type& type, const SymbolSizes& sizes = {});

// Shapes of all inputs that a device should be ready for: those of each profile, or the only ones. `pick` is
// the end of a range that is meant.
std::vector<std::vector<Shape>> shapes_to_prepare(const std::vector<PortInfo>& inputs, size_t profiles,
                                                  Shape ShapeRange::*pick = &ShapeRange::opt);

// Throws Error(invalid_argument) unless an input is given exactly the bytes of its shape, an output at least
// those.
void require_input_bytes(const PortInfo& input, const Shape& shape, size_t bytes);
void require_output_bytes(const PortInfo& output, const Shape& shape, size_t bytes);
// Throws it for null with more than 0 bytes.
void require_address(const PortInfo& port, std::string_view kind, const void* memory, size_t bytes);
// Throws it unless the memory is aligned for the elements of the port.
void require_aligned(const PortInfo& port, std::string_view kind, const void* memory);

// Whether a profile allows the shape of an input.
bool allows(const PortInfo& input, size_t profile, const Shape& shape);

}  // namespace ingot
