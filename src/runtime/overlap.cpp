#include "runtime/overlap.h"

#include "ingot/error.h"
#include "runtime/engine_state.h"

namespace ingot {
namespace {

using Bytes = std::span<const std::byte>;

Bytes bytes_of(const InputSlot& slot) { return {static_cast<const std::byte*>(slot.memory), slot.bytes}; }
Bytes bytes_of(const OutputSlot& slot) { return {static_cast<const std::byte*>(slot.memory), slot.bytes}; }

bool overlap(Bytes a, Bytes b) {
  return !a.empty() && !b.empty() && std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

[[noreturn]] void refuse(const std::string& output, std::string_view kind, const std::string& other, Bytes a,
                         Bytes b) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "output",
               .name = output,
               .expected = fmt::format(
                   "memory apart from that of {} '{}', or for an update in place the address of one "
                   "input",
                   kind, other),
               .observed = fmt::format("{} bytes at {}, over {} bytes at {}", a.size(),
                                       static_cast<const void*>(a.data()), b.size(),
                                       static_cast<const void*>(b.data())),
               .remedy = "Bind memory of its own, or the whole memory of the input that it replaces."});
}

std::optional<size_t> input_below(const Engine::State& engine, const std::vector<InputSlot>& inputs,
                                  const std::string& output, Bytes memory) {
  std::optional<size_t> found;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Bytes input = bytes_of(inputs[i]);
    if (!overlap(memory, input)) continue;
    if (found || input.data() != memory.data()) refuse(output, "input", engine.inputs[i].name, memory, input);
    found = i;
  }
  return found;
}

}  // namespace

std::vector<std::optional<size_t>> find_in_place(const Engine::State& engine,
                                                 const std::vector<InputSlot>& inputs,
                                                 const std::vector<OutputSlot>& outputs) {
  std::vector<std::optional<size_t>> in_place(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = engine.outputs[i].name;
    const Bytes memory = bytes_of(outputs[i]);
    in_place[i] = input_below(engine, inputs, name, memory);
    for (size_t k = 0; k < i; ++k)
      if (const Bytes other = bytes_of(outputs[k]); overlap(memory, other))
        refuse(name, "output", engine.outputs[k].name, memory, other);
  }
  return in_place;
}

void require_apart(const Engine::State& engine, std::span<const Datum> inputs, const PortInfo& output,
                   std::span<const std::byte> memory) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor() && overlap(memory, inputs[i].tensor().bytes()))
      refuse(output.name, "input", engine.inputs[i].name, memory, inputs[i].tensor().bytes());
}

}  // namespace ingot
