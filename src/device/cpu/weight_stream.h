#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "device/device.h"

namespace ingot::cpu {

// A weight whose pages a file can bring back.
struct StreamedWeight {
  std::span<const std::byte> bytes;
  std::atomic<bool> stays = true;  // in memory, between the steps that read it
};

// Bounds the physical memory of weights: those that exceed a budget leave it after each step that read them.
// Contexts never see a difference but in speed. Thread-safe.
class WeightStream {
 public:
  explicit WeightStream(uint64_t budget) : budget_(budget) {}

  // Memory that may be dropped.
  void add_pages(std::span<const std::byte> bytes);
  // Whether a weight there is large enough to care, and may be dropped.
  bool is_streamable(std::span<const std::byte> bytes) const;
  // Counts the weights of a step in; those of them that may be dropped.
  std::vector<const StreamedWeight*> add_step(std::span<const std::span<const std::byte>> weights);

  void set_budget(uint64_t budget);
  WeightStreaming stats() const;

 private:
  bool lies_in_pages(std::span<const std::byte> bytes) const;
  void choose();  // which weights stay; `mutex_` is held

  mutable std::mutex mutex_;  // guards all below
  uint64_t budget_;
  std::map<const std::byte*, size_t> pages_;            // size by start
  std::map<const std::byte*, StreamedWeight> weights_;  // by start
  std::vector<StreamedWeight*> order_;                  // as they came
  std::set<std::vector<const StreamedWeight*>> steps_;  // the weights of each
};

}  // namespace ingot::cpu
