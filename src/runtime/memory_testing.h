#pragma once

#include <array>
#include <atomic>

#include "ingot/graph.h"
#include "ingot/runtime.h"

// Helpers of the tests of memory.
namespace ingot {

// y = softmax(relu(x * A) * B) over f32[batch, 64], batch from 1 to 512, through 256 values a row.
Graph perceptron_graph();
// Small and large batches.
std::vector<Profile> perceptron_profiles();
Tensor perceptron_input(int64_t batch);
// What the reference device computes.
Tensor perceptron_output(int64_t batch);
// The largest relative difference.
double difference(const Tensor& a, const Tensor& b);

// Memory at multiples of kMemoryAlignment, every byte of which belongs to no sensible number.
class Block {
 public:
  explicit Block(size_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const size_t size_;
  std::byte* const data_;
};

// Gives memory that holds garbage, counts it, and refuses the allocation of a number, counted from 0.
class CountingAllocator : public Allocator {
 public:
  static constexpr int64_t kNever = -1;

  void refuse(int64_t number) {
    made_ = 0;
    refused_ = number;
  }
  void* allocate(size_t size, size_t alignment, MemoryPurpose purpose) noexcept override;
  void deallocate(void* memory, size_t size) noexcept override;

  int64_t live() const { return live_; }  // blocks
  int64_t live_bytes() const { return bytes_; }
  int64_t made(MemoryPurpose purpose) const { return purposes_.at(static_cast<size_t>(purpose)); }
  size_t least_alignment() const { return least_alignment_; }

 private:
  std::atomic<int64_t> made_ = 0, refused_ = kNever, live_ = 0, bytes_ = 0;
  std::array<std::atomic<int64_t>, 3> purposes_ = {};
  std::atomic<size_t> least_alignment_ = SIZE_MAX;
};

}  // namespace ingot
