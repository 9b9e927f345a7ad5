#include "base/reported.h"
#include "ingot/error.h"
#include "runtime/engine_state.h"
#include "runtime/ports.h"

// Engine::prepare: checks shapes by name before the device sees them.
namespace ingot {
namespace {

[[noreturn]] void refuse(const PortInfo& input, std::string expected, std::string observed,
                         std::string remedy) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "input",
               .name = input.name,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

Shape shape_of(const PortInfo& input, const InputShapes& given) {
  const auto found = given.find(input.name);
  if (found != given.end()) return found->second;
  if (!input.type.is_tensor()) return {};
  if (std::optional<Shape> fixed = known_shape(input.type)) return *fixed;
  refuse(input, "a shape for it", "none", "Give the shapes of all inputs whose sizes are open.");
}

bool allowed_by(const Engine::State& engine, size_t profile, const std::vector<Shape>& shapes) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (engine.inputs[i].type.is_tensor() && !allows(engine.inputs[i], profile, shapes[i])) return false;
  return true;
}

void require_a_profile(const Engine::State& engine, const std::vector<Shape>& shapes) {
  for (size_t profile = 0; profile < engine.profiles.size(); ++profile)
    if (allowed_by(engine, profile, shapes)) return;
  for (size_t i = 0; i < shapes.size() && !engine.profiles.empty(); ++i)
    if (!allows(engine.inputs[i], 0, shapes[i]))
      refuse(engine.inputs[i],
             fmt::format("shapes that one of {} profiles allows, the first of them from {} to {}",
                         engine.profiles.size(), to_string(engine.inputs[i].ranges[0].min),
                         to_string(engine.inputs[i].ranges[0].max)),
             to_string(shapes[i]), "Prepare shapes of one profile, or build the engine with another.");
}

// In the order of the graph.
std::vector<Shape> ordered(const Engine::State& engine, const InputShapes& given) {
  for (const auto& [name, shape] : given) find_port(engine.inputs, "input", name);
  std::vector<Shape> shapes;
  SymbolBinder binder;
  for (const PortInfo& input : engine.inputs) {
    shapes.push_back(shape_of(input, given));
    element_count(shapes.back());
    if (input.type.is_ranked()) binder.bind_shape(input.name, *input.type.dims, shapes.back());
  }
  binder.finish();
  require_a_profile(engine, shapes);
  return shapes;
}

}  // namespace

PrepareReport Engine::prepare(const std::vector<InputShapes>& shapes, const PrepareOptions& options) const {
  return reported(state_->diagnostics, [&] {
    if (!state_->program) fail_stripped(*state_);
    std::vector<std::vector<Shape>> sets;
    for (const InputShapes& set : shapes) sets.push_back(ordered(*state_, set));
    return state_->program->prepare(sets, options);
  });
}

}  // namespace ingot
