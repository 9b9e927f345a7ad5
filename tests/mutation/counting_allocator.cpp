#include "tests/mutation/counting_allocator.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace ingot {
namespace {

std::atomic<size_t> live{0};
std::atomic<size_t> peak{0};

void* counted(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  size_t now = live += malloc_usable_size(p);
  for (size_t seen = peak; now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
  return p;
}

void release(void* p) {
  if (p == nullptr) return;
  live -= malloc_usable_size(p);
  std::free(p);
}

}  // namespace

AllocationCounts allocation_counts() { return {live, peak}; }
void reset_peak() { peak = live.load(); }

}  // namespace ingot

void* operator new(size_t size) { return ingot::counted(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t alignment) {
  auto a = static_cast<size_t>(alignment);
  return ingot::counted(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return operator new(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept { ingot::release(p); }
void operator delete(void* p, size_t) noexcept { ingot::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { ingot::release(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { ingot::release(p); }
