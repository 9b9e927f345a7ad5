#include "base/memory_account.h"

#include <new>

#include "ingot/error.h"

namespace ingot {
namespace {

constexpr std::align_val_t kHeapAlignment{MemoryAccount::kAlignment};

thread_local const MemoryScope* current_scope = nullptr;

void* take_from_heap(size_t bytes) { return ::operator new(bytes, kHeapAlignment, std::nothrow); }
void give_to_heap(void* memory) { ::operator delete(memory, kHeapAlignment); }

[[noreturn]] void fail_refused(size_t bytes, std::string_view purpose, bool by_application) {
  throw Error({.code = ErrorCode::out_of_memory,
               .object = "memory",
               .name = std::string(purpose),
               .expected = fmt::format("{} bytes{}", bytes, by_application ? " from the allocator" : ""),
               .observed = "a refused allocation",
               .remedy = by_application
                             ? "Let the allocator give more, or use smaller shapes."
                             : "Use smaller shapes, free memory or raise the limit of the process."});
}

// Any address will do for no bytes, but it must be one.
size_t at_least_one(size_t bytes) { return std::max<size_t>(bytes, 1); }

}  // namespace

std::string_view to_string(MemoryPurpose purpose) {
  switch (purpose) {
    case MemoryPurpose::weights: return "weights";
    case MemoryPurpose::activation: return "activation";
    case MemoryPurpose::output: return "output";
  }
  return "unknown";
}

std::string_view to_string(AllocationStrategy strategy) {
  switch (strategy) {
    case AllocationStrategy::fixed: return "fixed";
    case AllocationStrategy::on_profile_change: return "on profile change";
    case AllocationStrategy::user_managed: return "user managed";
    case AllocationStrategy::as_needed: return "as needed";
  }
  return "unknown";
}

Allocator::~Allocator() = default;

void* MemoryAccount::take(size_t bytes, MemoryPurpose purpose) const {
  void* memory = allocator_ ? allocator_->allocate(bytes, kAlignment, purpose) : take_from_heap(bytes);
  if (memory == nullptr) fail_refused(bytes, to_string(purpose), allocator_ != nullptr);
  if (reinterpret_cast<uintptr_t>(memory) % kAlignment == 0) return memory;
  give_back(memory, bytes);
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "allocator",
               .name = std::string(to_string(purpose)),
               .expected = fmt::format("memory at a multiple of {}", kAlignment),
               .observed = fmt::format("address {}", memory),
               .remedy = "Let Allocator::allocate() honour its argument 'alignment'."});
}

void MemoryAccount::give_back(void* memory, size_t bytes) const noexcept {
  if (allocator_)
    allocator_->deallocate(memory, bytes);
  else
    give_to_heap(memory);
}

std::shared_ptr<std::byte> MemoryAccount::allocate(std::shared_ptr<MemoryAccount> account, size_t bytes,
                                                   MemoryPurpose purpose) {
  const size_t taken = at_least_one(bytes);
  auto* memory = static_cast<std::byte*>(account->take(taken, purpose));
  account->add(purpose, taken);
  return {memory, [account = std::move(account), taken, purpose](std::byte* p) {
            account->remove(purpose, taken);
            account->give_back(p, taken);
          }};
}

void MemoryAccount::add(MemoryPurpose purpose, size_t bytes) noexcept {
  bytes_[static_cast<size_t>(purpose)] += bytes;
  const uint64_t total = total_ += bytes;
  uint64_t peak = peak_;
  while (total > peak && !peak_.compare_exchange_weak(peak, total)) continue;
  if (above_) above_->add(purpose, bytes);
}

void MemoryAccount::remove(MemoryPurpose purpose, size_t bytes) noexcept {
  bytes_[static_cast<size_t>(purpose)] -= bytes;
  total_ -= bytes;
  if (above_) above_->remove(purpose, bytes);
}

MemoryScope::MemoryScope(const std::shared_ptr<MemoryAccount>& account, MemoryPurpose purpose)
    : outer_(current_scope), account_(account ? &account : nullptr), purpose_(purpose) {
  current_scope = this;
}

MemoryScope::MemoryScope(MemoryPurpose purpose)
    : outer_(current_scope), account_(outer_ ? outer_->account_ : nullptr), purpose_(purpose) {
  current_scope = this;
}

MemoryScope::~MemoryScope() { current_scope = outer_; }

std::shared_ptr<std::byte> MemoryScope::allocate(size_t bytes) {
  if (current_scope && current_scope->account_)
    return MemoryAccount::allocate(*current_scope->account_, bytes, current_scope->purpose_);
  const size_t taken = at_least_one(bytes);
  auto* memory = static_cast<std::byte*>(take_from_heap(taken));
  if (memory == nullptr) fail_refused(taken, "tensor", false);
  return {memory, give_to_heap};
}

}  // namespace ingot
