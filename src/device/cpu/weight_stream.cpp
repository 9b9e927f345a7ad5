#include "device/cpu/weight_stream.h"

#include <algorithm>

namespace ingot::cpu {
namespace {

constexpr size_t kLeastBytes = size_t{64} << 10;  // below, a call to the system costs more than it saves

}  // namespace

void WeightStream::add_pages(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::lock_guard lock(mutex_);
  pages_[bytes.data()] = bytes.size();
}

bool WeightStream::lies_in_pages(std::span<const std::byte> bytes) const {
  auto after = pages_.upper_bound(bytes.data());
  if (after == pages_.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return bytes.data() + bytes.size() <= start + size;
}

bool WeightStream::is_streamable(std::span<const std::byte> bytes) const {
  const std::lock_guard lock(mutex_);
  return bytes.size() >= kLeastBytes && lies_in_pages(bytes);
}

std::vector<const StreamedWeight*> WeightStream::add_step(
    std::span<const std::span<const std::byte>> weights) {
  std::vector<const StreamedWeight*> step;
  const std::lock_guard lock(mutex_);
  for (const auto bytes : weights) {
    if (bytes.size() < kLeastBytes || !lies_in_pages(bytes)) continue;
    auto [place, is_new] = weights_.try_emplace(bytes.data());
    StreamedWeight& weight = place->second;
    if (is_new) order_.push_back(&weight);
    if (weight.bytes.size() < bytes.size()) weight.bytes = bytes;
    step.push_back(&weight);
  }
  std::ranges::sort(step);
  step.erase(std::unique(step.begin(), step.end()), step.end());
  if (steps_.insert(step).second) choose();
  return step;
}

void WeightStream::set_budget(uint64_t budget) {
  const std::lock_guard lock(mutex_);
  budget_ = budget;
  choose();
}

// In the order of their steps, so that the same ones stay whenever an engine is opened.
void WeightStream::choose() {
  uint64_t left = budget_;
  for (StreamedWeight* weight : order_) {
    weight->stays = weight->bytes.size() <= left;
    if (weight->stays) left -= weight->bytes.size();
  }
}

WeightStreaming WeightStream::stats() const {
  const std::lock_guard lock(mutex_);
  auto leaving = [](const StreamedWeight* w) { return w->stays ? 0 : uint64_t{w->bytes.size()}; };
  WeightStreaming stats{.budget = budget_};
  for (const StreamedWeight* weight : order_) {
    stats.streamable_bytes += weight->bytes.size();
    stats.streamed_bytes += leaving(weight);
  }
  for (const auto& step : steps_) {
    uint64_t bytes = 0;
    for (const StreamedWeight* weight : step) bytes += leaving(weight);
    stats.scratch_bytes = std::max(stats.scratch_bytes, bytes);
  }
  return stats;
}

}  // namespace ingot::cpu
