#include "device/cpu/plan.h"

#include <algorithm>

namespace ingot::cpu {
namespace {

constexpr int64_t kAlignment = 64;

int64_t padded(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void find_lifetimes(Plan& plan) {
  for (int32_t i = 0; i < static_cast<int32_t>(plan.steps.size()); ++i) {
    auto touch = [&](int32_t buffer) {
      Buffer& b = plan.buffers[static_cast<size_t>(buffer)];
      if (b.first_step < 0) b.first_step = i;
      b.last_step = i;
    };
    std::ranges::for_each(plan.steps[static_cast<size_t>(i)]->reads, touch);
    std::ranges::for_each(plan.steps[static_cast<size_t>(i)]->writes, touch);
  }
}

bool overlap_in_time(const Buffer& a, const Buffer& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

// The lowest gap among the placed buffers that live at the same time.
int64_t find_gap(const std::vector<Buffer*>& placed, const Buffer& wanted) {
  int64_t offset = 0;
  for (const Buffer* other : placed) {  // by offset
    if (!overlap_in_time(*other, wanted)) continue;
    if (offset + padded(wanted.bytes) <= other->slot) break;
    offset = std::max(offset, other->slot + padded(other->bytes));
  }
  return offset;
}

}  // namespace

void plan_arena(Plan& plan) {
  find_lifetimes(plan);
  std::vector<Buffer*> open;
  for (Buffer& buffer : plan.buffers)
    if (buffer.kind == Buffer::Kind::arena && buffer.first_step >= 0) open.push_back(&buffer);
  // Large ones first: small ones fill the gaps.
  std::ranges::stable_sort(open, std::ranges::greater(), &Buffer::bytes);
  std::vector<Buffer*> placed;
  for (Buffer* buffer : open) {
    buffer->slot = find_gap(placed, *buffer);
    plan.arena_bytes = std::max(plan.arena_bytes, buffer->slot + padded(buffer->bytes));
    placed.insert(std::ranges::upper_bound(placed, buffer->slot, {}, &Buffer::slot), buffer);
  }
}

}  // namespace ingot::cpu
