#pragma once

#include "runtime/engine_state.h"

// Which profile of an engine serves which shapes. Shapes are by input, none for what is no tensor or not set.
// An engine without profiles takes everything as profile 0.
namespace ingot {

using InputShapeList = std::vector<std::optional<Shape>>;

// Throws Error(invalid_argument) unless the profile allows the shape of an input; names profiles that do.
void require_allowed(const Engine::State& engine, const PortInfo& input, size_t profile, const Shape& shape);
// The same for any profile.
void require_allowed_by_any(const Engine::State& engine, const PortInfo& input, const Shape& shape);

// The first profile that allows all of them. Throws Error(invalid_argument) where none does.
size_t choose_profile(const Engine::State& engine, const InputShapeList& shapes);

}  // namespace ingot
