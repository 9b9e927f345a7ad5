#include "runtime/profile_choice.h"

#include "ingot/error.h"
#include "runtime/ports.h"

namespace ingot {
namespace {

std::vector<size_t> allowing(const Engine::State& engine, const PortInfo& input, const Shape& shape) {
  std::vector<size_t> profiles;
  for (size_t i = 0; i < engine.profiles.size(); ++i)
    if (allows(input, i, shape)) profiles.push_back(i);
  return profiles;
}

std::string range_of(const Engine::State& engine, const PortInfo& input, size_t profile) {
  const ShapeRange& range = input.ranges[profile];
  return fmt::format("from {} to {}, by profile {} '{}'", to_string(range.min), to_string(range.max), profile,
                     engine.profiles[profile].name);
}

[[noreturn]] void refuse(std::string object, std::string name, std::string expected, std::string observed,
                         std::string remedy) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = std::move(object),
               .name = std::move(name),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

bool allows_all(const Engine::State& engine, size_t profile, const InputShapeList& shapes) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i] && !allows(engine.inputs[i], profile, *shapes[i])) return false;
  return true;
}

// Each of them is allowed by some profile.
[[noreturn]] void refuse_together(const Engine::State& engine, const InputShapeList& shapes) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i])
      parts.push_back(fmt::format("'{}' {} of profiles {}", engine.inputs[i].name, to_string(*shapes[i]),
                                  fmt::join(allowing(engine, engine.inputs[i], *shapes[i]), ", ")));
  refuse("engine", engine.name, "shapes that one profile allows together",
         fmt::format("{}", fmt::join(parts, "; ")), "Build the engine with a profile that allows them all.");
}

}  // namespace

void require_allowed(const Engine::State& engine, const PortInfo& input, size_t profile, const Shape& shape) {
  if (allows(input, profile, shape)) return;
  const std::vector<size_t> others = allowing(engine, input, shape);
  refuse("input", input.name, "a shape " + range_of(engine, input, profile), to_string(shape),
         others.empty() ? "Build the engine with a profile that allows it."
                        : fmt::format("Profile {} '{}' allows it: call set_profile({}).", others[0],
                                      engine.profiles[others[0]].name, others[0]));
}

void require_allowed_by_any(const Engine::State& engine, const PortInfo& input, const Shape& shape) {
  if (engine.profiles.empty() || !allowing(engine, input, shape).empty()) return;
  std::vector<std::string> ranges;
  for (size_t i = 0; i < engine.profiles.size(); ++i) ranges.push_back(range_of(engine, input, i));
  refuse("input", input.name, fmt::format("a shape {}", fmt::join(ranges, ", or ")), to_string(shape),
         "Build the engine with a profile that allows it.");
}

size_t choose_profile(const Engine::State& engine, const InputShapeList& shapes) {
  for (size_t profile = 0; profile < engine.profiles.size(); ++profile)
    if (allows_all(engine, profile, shapes)) return profile;
  if (engine.profiles.empty()) return 0;
  for (size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i]) require_allowed_by_any(engine, engine.inputs[i], *shapes[i]);
  refuse_together(engine, shapes);
}

}  // namespace ingot
