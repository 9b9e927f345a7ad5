#include "runtime/sample_shapes.h"

#include <algorithm>

#include "runtime/ports.h"

namespace ingot {
namespace {

// Sizes that differ where they may, for sequences; and what networks that halve images again and again take.
constexpr int64_t kSequence = 37, kImage = 64;

SymbolSizes sizes_from(const std::vector<PortInfo>& inputs, int64_t first, int64_t step) {
  SymbolSizes sizes;
  int64_t next = first;
  for (const PortInfo& input : inputs)
    for (const Dim& dim : *input.type.dims)
      dim.visit_symbols([&](std::string_view name, int64_t low, int64_t high) {
        if (sizes.contains(name)) return;
        sizes[std::string(name)] = {std::clamp(next, low, high), input.name};
        next += step;
      });
  return sizes;
}

std::vector<Shape> shapes_with(const std::vector<PortInfo>& inputs, const SymbolSizes& sizes) {
  std::vector<Shape> shapes;
  for (const PortInfo& input : inputs) shapes.push_back(known_shape(input.type, sizes).value_or(Shape()));
  return shapes;
}

std::vector<Shape> ends_of_profile(const std::vector<PortInfo>& inputs, size_t profile,
                                   Shape ShapeRange::*end) {
  std::vector<Shape> shapes;
  for (const PortInfo& input : inputs) shapes.push_back(input.ranges[profile].*end);
  return shapes;
}

}  // namespace

std::vector<std::vector<Shape>> sample_shapes(const Engine::State& engine) {
  const std::vector<PortInfo>& inputs = engine.inputs;
  if (!std::ranges::all_of(inputs,
                           [](const PortInfo& p) { return p.type.is_tensor() && p.type.is_ranked(); }) ||
      std::ranges::all_of(inputs, [](const PortInfo& p) { return known_shape(p.type).has_value(); }))
    return {};
  std::vector<std::vector<Shape>> samples;
  for (size_t i = 0; i < engine.profiles.size(); ++i)
    for (Shape ShapeRange::*end : {&ShapeRange::max, &ShapeRange::min})
      samples.push_back(ends_of_profile(inputs, i, end));
  if (!samples.empty()) return samples;
  return {shapes_with(inputs, sizes_from(inputs, kSequence, 1)),
          shapes_with(inputs, sizes_from(inputs, kImage, 0))};
}

}  // namespace ingot
