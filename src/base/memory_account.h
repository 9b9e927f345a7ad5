#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "ingot/memory.h"

namespace ingot {

// Memory that an object holds, by purpose. What is allocated for an account counts in those above it too:
// that of a context in that of its engine, that in that of its runtime. Thread-safe.
class MemoryAccount {
 public:
  static constexpr size_t kAlignment = 64;

  // A null allocator is the C++ heap.
  explicit MemoryAccount(std::shared_ptr<Allocator> allocator) : allocator_(std::move(allocator)) {}
  explicit MemoryAccount(std::shared_ptr<MemoryAccount> above)
      : allocator_(above->allocator_), above_(std::move(above)) {}

  // Whether the application gave an allocator.
  bool has_allocator() const { return allocator_ != nullptr; }

  // Bytes that nobody has written yet, at a multiple of kAlignment, which keep the account alive. Throws
  // Error(out_of_memory) where they are refused and invalid_argument where the allocator gives what it must
  // not.
  static std::shared_ptr<std::byte> allocate(std::shared_ptr<MemoryAccount> account, size_t bytes,
                                             MemoryPurpose purpose);

  // Memory that came another way.
  void add(MemoryPurpose purpose, size_t bytes) noexcept;
  void remove(MemoryPurpose purpose, size_t bytes) noexcept;

  uint64_t bytes(MemoryPurpose purpose) const { return bytes_[static_cast<size_t>(purpose)]; }
  uint64_t total() const { return total_; }
  uint64_t peak() const { return peak_; }  // the highest total() ever

 private:
  void* take(size_t bytes, MemoryPurpose purpose) const;
  void give_back(void* memory, size_t bytes) const noexcept;

  const std::shared_ptr<Allocator> allocator_;
  const std::shared_ptr<MemoryAccount> above_;
  std::array<std::atomic<uint64_t>, 3> bytes_ = {};
  std::atomic<uint64_t> total_ = 0;
  std::atomic<uint64_t> peak_ = 0;
};

// While it lives, tensors made on this thread are of this account and purpose.
class MemoryScope {
 public:
  // The account must outlive the scope; null is the C++ heap, uncounted.
  MemoryScope(const std::shared_ptr<MemoryAccount>& account, MemoryPurpose purpose);
  explicit MemoryScope(MemoryPurpose purpose);  // the account of the scope around it
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

  // As MemoryAccount::allocate() for the scope of this thread, if there is one.
  static std::shared_ptr<std::byte> allocate(size_t bytes);

 private:
  const MemoryScope* const outer_;
  const std::shared_ptr<MemoryAccount>* const account_;
  const MemoryPurpose purpose_;
};

}  // namespace ingot
