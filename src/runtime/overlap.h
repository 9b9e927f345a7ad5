#pragma once

#include "runtime/context_state.h"

namespace ingot {

// By output: the input in whose memory it lies. An output may begin where an input does, which is an update
// in place. Throws Error(invalid_argument), naming both, where memory of an output overlaps another port's in
// any other way.
std::vector<std::optional<size_t>> find_in_place(const Engine::State& engine,
                                                 const std::vector<InputSlot>& inputs,
                                                 const std::vector<OutputSlot>& outputs);

// Throws it where the memory that an allocator gave for an output overlaps that of an input.
void require_apart(const Engine::State& engine, std::span<const Datum> inputs, const PortInfo& output,
                   std::span<const std::byte> memory);

}  // namespace ingot
