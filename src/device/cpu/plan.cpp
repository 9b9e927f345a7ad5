#include "device/cpu/plan.h"

#include <algorithm>
#include <array>

#include "base/paged_memory.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kGoodEnough = 100;  // a hundredth above what no arena can do without

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

void add_scratch(Plan& plan, int threads) {
  for (int32_t i = 0; i < static_cast<int32_t>(plan.steps.size()); ++i) {
    Step& step = *plan.steps[static_cast<size_t>(i)];
    step.scratch_stride = padded(step.scratch_bytes());
    const int64_t bytes = step.scratch_stride * (step.shares_scratch() ? 1 : threads);
    if (bytes == 0) continue;
    step.scratch = static_cast<int32_t>(plan.buffers.size());
    plan.buffers.push_back({.bytes = bytes, .first_step = i, .last_step = i});
    plan.scratch_bytes = std::max(plan.scratch_bytes, bytes);
  }
}

// Buffers with memory of their own in the arena.
std::vector<Buffer*> find_homes(Plan& plan) {
  std::vector<Buffer*> homes;
  for (Buffer& buffer : plan.buffers)
    if (buffer.kind == Buffer::Kind::arena && buffer.first_step >= 0 && buffer.in_place_of < 0)
      homes.push_back(&buffer);
  return homes;
}

// The most bytes that live during one step.
int64_t find_least_bytes(const std::vector<Buffer*>& homes, size_t steps) {
  std::vector<int64_t> change(steps + 1, 0);
  for (const Buffer* home : homes) {
    change[static_cast<size_t>(home->first_step)] += home->bytes - home->slack;
    change[static_cast<size_t>(home->last_step) + 1] -= home->bytes - home->slack;
  }
  int64_t alive = 0, most = 0;
  for (int64_t step : change) most = std::max(most, alive += step);
  return most;
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

// Gives each its slot, in this order; how much memory that takes.
int64_t place_in_order(const std::vector<Buffer*>& order) {
  int64_t bytes = 0;
  std::vector<Buffer*> placed;
  for (Buffer* buffer : order) {
    buffer->slot = find_gap(placed, *buffer);
    bytes = std::max(bytes, buffer->slot + padded(buffer->bytes));
    placed.insert(std::ranges::upper_bound(placed, buffer->slot, {}, &Buffer::slot), buffer);
  }
  return bytes;
}

int64_t duration(const Buffer* buffer) { return buffer->last_step - buffer->first_step + 1; }

// No order is best for every graph. Large ones first lets small ones fill the gaps; ones that live long first
// keeps them out of the middle.
void place(Plan& plan, std::vector<Buffer*>& homes) {
  using Weight = int64_t (*)(const Buffer*);
  constexpr std::array<Weight, 3> kOrders = {[](const Buffer* b) { return b->bytes; },
                                             [](const Buffer* b) { return b->bytes * duration(b); },
                                             [](const Buffer* b) { return duration(b); }};
  std::ranges::stable_sort(homes, std::ranges::greater(), &Buffer::bytes);  // among equals
  std::vector<int64_t> slots(homes.size());
  plan.arena_bytes = 0;
  for (const Weight weight : kOrders) {
    std::vector<Buffer*> order = homes;
    std::ranges::stable_sort(order, std::ranges::greater(), weight);
    const int64_t bytes = place_in_order(order);
    if (plan.arena_bytes > 0 && bytes >= plan.arena_bytes) continue;
    plan.arena_bytes = bytes;
    std::ranges::transform(homes, slots.begin(), &Buffer::slot);
    if (bytes <= plan.least_bytes + plan.least_bytes / kGoodEnough) break;
  }
  for (size_t i = 0; i < homes.size(); ++i) homes[i]->slot = slots[i];
}

}  // namespace

void Plan::run(const Step& step, const Frame& frame) {
  Frame own = frame;
  if (step.scratch >= 0) {
    own.scratch = frame.at(step.scratch, 0);
    own.scratch_stride = step.scratch_stride;
  }
  for (const StreamedWeight* weight : step.next_weights)
    if (!weight->stays) prefetch_pages(weight->bytes);
  step.run(own);
  for (const StreamedWeight* weight : step.weights)
    if (!weight->stays) drop_pages(weight->bytes);
}

bool can_overwrite(const Plan& plan, int64_t input, size_t output) {
  const auto found = std::ranges::find_if(plan.buffers, [&](const Buffer& buffer) {
    return buffer.kind == Buffer::Kind::input && buffer.slot == input;
  });
  const auto in = static_cast<int32_t>(found - plan.buffers.begin()), out = plan.output_buffers[output];
  if (found->bytes != plan.buffers[static_cast<size_t>(out)].bytes) return false;
  auto has = [](const std::vector<int32_t>& list, int32_t buffer) {
    return std::ranges::find(list, buffer) != list.end();
  };
  bool is_written = false;
  for (const std::unique_ptr<Step>& step : plan.steps) {
    const bool reads = has(step->reads, in), writes = has(step->writes, out);
    if (reads && (is_written || (writes && !has(step->reads_in_place(), in)))) return false;
    is_written = is_written || writes;
  }
  return true;
}

void plan_arena(Plan& plan, int threads) {
  find_lifetimes(plan);
  reuse_in_place(plan);
  plan.value_bytes = find_least_bytes(find_homes(plan), plan.steps.size());
  add_scratch(plan, threads);
  std::vector<Buffer*> open = find_homes(plan);
  plan.least_bytes = find_least_bytes(open, plan.steps.size());
  place(plan, open);
  for (int32_t i = 0; i < static_cast<int32_t>(plan.buffers.size()); ++i)
    if (plan.buffers[static_cast<size_t>(i)].in_place_of >= 0)
      plan.buffers[static_cast<size_t>(i)].slot = home_of(plan, i).slot;
}

}  // namespace ingot::cpu
