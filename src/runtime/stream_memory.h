#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>

namespace ingot {

// Memory of a stream. What is freed may be given out again at once, as those who get it come later in the
// order of the stream. Not thread-safe.
class StreamMemory {
 public:
  static constexpr size_t kAlignment = 256;

  // `ended` is how much of the stream's work has: what was freed before may go, should the system have no
  // more.
  void* allocate(size_t bytes, uint64_t ended);
  void free(void* memory, uint64_t given);  // behind that much work
  void trim(uint64_t ended);
  size_t reserved() const { return reserved_; }

 private:
  struct Deleter {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{kAlignment}); }
  };
  struct Block {
    std::unique_ptr<std::byte, Deleter> memory;
    size_t bytes = 0;
    bool in_use = false;
    uint64_t freed_behind = 0;
  };

  void* reuse(size_t bytes);
  void* reserve(size_t bytes);

  std::map<void*, Block> blocks_;
  std::multimap<size_t, void*> free_;  // by size
  size_t reserved_ = 0;
};

}  // namespace ingot
