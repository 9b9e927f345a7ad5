#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory_account.h"
#include "device/device.h"
#include "ingot/runtime.h"

namespace ingot {

// Memory for one inference; `owner` keeps it, where it is not the application's.
struct MemoryBlock {
  std::span<std::byte> bytes;
  std::shared_ptr<const std::byte> owner;
};

// The memory that a context computes in, by its strategy. Not thread-safe.
class ContextMemory {
 public:
  // Makes what the strategy wants made with the context. Throws what allocating throws.
  ContextMemory(const Engine::State& engine, AllocationStrategy strategy, const std::string& context);

  // A call that throws changes nothing.
  void change_profile(size_t profile);
  // `needed`: bytes for the shapes at hand, 0 where they are not known yet.
  void set(void* memory, size_t bytes, size_t needed);

  // For inputs of these shapes, by input; none for those that are no tensors. Throws invalid_argument where
  // the application manages memory and gave none, or too little.
  MemoryBlock for_inference(const std::vector<std::optional<Shape>>& inputs) const;
  MemoryNeed need(const std::vector<std::optional<Shape>>& inputs) const;

  const std::shared_ptr<MemoryAccount>& account() const { return account_; }
  AllocationStrategy strategy() const { return strategy_; }
  size_t block_bytes() const { return block_.bytes.size(); }
  // All that the context computes in. Any thread.
  uint64_t bytes() const { return account_->bytes(MemoryPurpose::activation) + lent_bytes_; }

 private:
  MemoryBlock allocate(size_t bytes) const;
  [[noreturn]] void refuse_too_little(size_t needed, size_t given) const;

  const Engine::State& engine_;
  const AllocationStrategy strategy_;
  const std::string& context_;  // its name
  const std::shared_ptr<MemoryAccount> account_;
  MemoryBlock block_;
  std::atomic<size_t> lent_bytes_ = 0;  // by the application
};

}  // namespace ingot
