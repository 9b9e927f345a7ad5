#include "runtime/debug.h"

#include <algorithm>

#include "engine/debug_names.h"
#include "ingot/error.h"
#include "ir/select_outputs.h"
#include "runtime/ports.h"

namespace ingot {
namespace {

[[noreturn]] void fail_listener(const std::string& name, std::string what) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "debug listener",
               .name = name,
               .expected = "a function that throws nothing or ingot::Error",
               .observed = std::move(what),
               .remedy = "Catch it inside the function."});
}

}  // namespace

std::unique_ptr<DebugTensors> DebugTensors::of(const Graph& graph) {
  const std::vector<std::string> names = debug_names(graph.metadata());
  if (names.empty()) return nullptr;
  try {
    require_debug_outputs(graph, names);
  } catch (const Error& e) {
    ErrorParts parts = e.parts();
    parts.code = ErrorCode::corrupt;
    parts.remedy = "Build the engine again.";
    throw Error(std::move(parts));
  }
  auto debug = std::make_unique<DebugTensors>();
  size_t others = 0;
  for (const PortInfo& port : list_outputs(graph)) {
    const bool is_debug = std::ranges::find(names, port.name) != names.end();
    debug->names_.push_back(port.name);
    debug->outputs_.push_back(is_debug ? std::nullopt : std::optional(others++));
    if (is_debug) debug->tensors_.push_back(port);
  }
  return debug;
}

bool DebugTensors::has(const std::string& name) const {
  return std::ranges::find(tensors_, name, &PortInfo::name) != tensors_.end();
}

Graph DebugTensors::without(const Graph& graph) const {
  std::vector<size_t> others;
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i]) others.push_back(i);
  return select_outputs(graph, others, with_debug_names(graph.metadata(), {}));
}

std::shared_ptr<const Program> DebugTensors::program(std::shared_ptr<const Graph> graph) const {
  const std::lock_guard lock(mutex_);
  if (graph_ != graph) {
    program_ = compile_(graph);
    graph_ = std::move(graph);
  }
  return program_;
}

std::optional<std::span<std::byte>> DebugSink::memory(size_t index, const Shape& shape) {
  const std::optional<size_t> other = debug_.outputs()[index];
  return other ? rest_.memory(*other, shape) : std::nullopt;
}

std::optional<size_t> DebugSink::in_place_of(size_t index) const {
  const std::optional<size_t> other = debug_.outputs()[index];
  return other ? rest_.in_place_of(*other) : std::nullopt;
}

void DebugSink::deliver(size_t index, Datum output) {
  if (const std::optional<size_t> other = debug_.outputs()[index])
    return rest_.deliver(*other, std::move(output));
  const Tensor& tensor = output.tensor();
  const std::string& name = debug_.name(index);
  try {
    listener_({name, tensor.dtype(), tensor.shape(), tensor.bytes().data(), tensor.bytes().size()});
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    fail_listener(name, e.what());
  } catch (...) {
    fail_listener(name, "an exception of an unknown type");
  }
}

}  // namespace ingot
