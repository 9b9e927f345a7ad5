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

// The buffer whose memory it is in the end.
Buffer& home_of(Plan& plan, int32_t buffer) {
  Buffer* b = &plan.buffers[static_cast<size_t>(buffer)];
  while (b->in_place_of >= 0) b = &plan.buffers[static_cast<size_t>(b->in_place_of)];
  return *b;
}

void reuse_in_place(Plan& plan) {
  for (int32_t i = 0; i < static_cast<int32_t>(plan.steps.size()); ++i) {
    const Step& step = *plan.steps[static_cast<size_t>(i)];
    if (step.writes.size() != 1) continue;
    Buffer& out = plan.buffers[static_cast<size_t>(step.writes[0])];
    if (out.kind != Buffer::Kind::arena || out.first_step != i) continue;
    for (int32_t read : step.reads_in_place()) {
      Buffer& home = home_of(plan, read);
      const bool ends = home.kind == Buffer::Kind::arena && home.last_step == i && home.first_step >= 0;
      if (!ends || home.bytes < out.bytes || &home == &out) continue;
      out.in_place_of = static_cast<int32_t>(&home - plan.buffers.data());
      home.last_step = out.last_step;
      break;
    }
  }
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
  reuse_in_place(plan);
  std::vector<Buffer*> open;
  for (Buffer& buffer : plan.buffers)
    if (buffer.kind == Buffer::Kind::arena && buffer.first_step >= 0 && buffer.in_place_of < 0)
      open.push_back(&buffer);
  // Large ones first: small ones fill the gaps.
  std::ranges::stable_sort(open, std::ranges::greater(), &Buffer::bytes);
  std::vector<Buffer*> placed;
  for (Buffer* buffer : open) {
    buffer->slot = find_gap(placed, *buffer);
    plan.arena_bytes = std::max(plan.arena_bytes, buffer->slot + padded(buffer->bytes));
    placed.insert(std::ranges::upper_bound(placed, buffer->slot, {}, &Buffer::slot), buffer);
  }
  for (int32_t i = 0; i < static_cast<int32_t>(plan.buffers.size()); ++i)
    if (plan.buffers[static_cast<size_t>(i)].in_place_of >= 0)
      plan.buffers[static_cast<size_t>(i)].slot = home_of(plan, i).slot;
}

}  // namespace ingot::cpu
