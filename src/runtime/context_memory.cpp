#include "runtime/context_memory.h"

#include "ingot/error.h"
#include "runtime/engine_state.h"

namespace ingot {
namespace {

[[noreturn]] void refuse(const std::string& context, std::string expected, std::string observed,
                         std::string remedy) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "memory of a context",
               .name = context,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

}  // namespace

ContextMemory::ContextMemory(const Engine::State& engine, AllocationStrategy strategy,
                             const std::string& context)
    : engine_(engine),
      strategy_(strategy),
      context_(context),
      account_(std::make_shared<MemoryAccount>(engine.memory)) {
  if (strategy == AllocationStrategy::fixed)
    block_ = allocate(static_cast<size_t>(engine.memory_need().value_or(MemoryNeed()).bytes));
  if (strategy == AllocationStrategy::on_profile_change) change_profile(0);
}

MemoryBlock ContextMemory::allocate(size_t bytes) const {
  if (bytes == 0) return {};
  auto memory = MemoryAccount::allocate(account_, bytes, MemoryPurpose::activation);
  return {{memory.get(), bytes}, memory};
}

void ContextMemory::change_profile(size_t profile) {
  if (strategy_ != AllocationStrategy::on_profile_change) return;
  const size_t bytes = static_cast<size_t>(engine_.memory_need(profile).value_or(MemoryNeed()).bytes);
  if (bytes != block_.bytes.size()) block_ = allocate(bytes);
}

void ContextMemory::set(void* memory, size_t bytes, size_t needed) {
  if (strategy_ != AllocationStrategy::user_managed)
    refuse(context_, "a context whose memory the application manages",
           fmt::format("the allocation strategy '{}'", to_string(strategy_)),
           "Create it with ContextOptions::allocation = AllocationStrategy::user_managed.");
  if (reinterpret_cast<uintptr_t>(memory) % kMemoryAlignment != 0)
    refuse(context_, fmt::format("an address that is a multiple of {}", kMemoryAlignment),
           fmt::format("{}", memory), "Allocate it with that alignment.");
  if (memory == nullptr && bytes > 0)
    refuse(context_, "an address", fmt::format("null for {} bytes", bytes),
           "Give null with 0 bytes to take the memory away.");
  if (bytes < needed) refuse_too_little(needed, bytes);
  block_ = {{static_cast<std::byte*>(memory), bytes}, nullptr};
  lent_bytes_ = bytes;
}

MemoryNeed ContextMemory::need(const std::vector<std::optional<Shape>>& inputs) const {
  return engine_.program->memory_need(inputs);
}

MemoryBlock ContextMemory::for_inference(const std::vector<std::optional<Shape>>& inputs) const {
  if (strategy_ != AllocationStrategy::user_managed) return block_;
  const auto bytes = static_cast<size_t>(need(inputs).bytes);
  if (bytes > block_.bytes.size()) refuse_too_little(bytes, block_.bytes.size());
  return block_;
}

void ContextMemory::refuse_too_little(size_t needed, size_t given) const {
  refuse(context_, fmt::format("at least {} bytes for the shapes of the inputs", needed),
         given == 0 ? "none" : fmt::format("{} bytes", given),
         "Call set_memory() with memory_size_for_shapes() bytes, or Engine::memory_size() for all shapes.");
}

}  // namespace ingot
