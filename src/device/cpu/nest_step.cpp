#include "device/cpu/nest_step.h"

#include <algorithm>

#include "device/cpu/nest_stand_in.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kChunkOps = 32 * 1024;  // operations worth a hand-over to another thread
constexpr size_t kMaxAccesses = 64;

int64_t extent(const kernel::Axis& axis, const std::vector<int64_t>& sizes) {
  return axis.extent.param < 0 ? axis.extent.value : sizes[static_cast<size_t>(axis.extent.param)];
}

}  // namespace

NestStep::NestStep(KernelSet& kernels, const kernel::LoopNest& nest, std::vector<int64_t> sizes,
                   std::vector<Place> loads, const Place& store)
    : kernels_(kernels),
      kernel_(kernels.add(nest)),
      linked_(kernel_),
      sizes_(std::move(sizes)),
      memory_(std::move(loads)) {
  memory_.push_back(store);
  reduces_ = std::ranges::any_of(nest.axes, &kernel::Axis::reduced);
  cut(nest);
  scratch_ = kernel::scratch_bytes(nest, sizes_.data());
  for (const Place& place : memory_)
    cost.bytes += static_cast<double>(place.view.count()) * bit_width(place.view.dtype) / 8;
}

void NestStep::cut(const kernel::LoopNest& nest) {
  const auto parallel = std::ranges::count(nest.axes, false, &kernel::Axis::reduced);
  int64_t total = 1;
  points_ = 1;
  for (size_t i = 0; i < nest.axes.size(); ++i) {
    const int64_t n = extent(nest.axes[i], sizes_);
    total *= n;
    if (static_cast<int64_t>(i) < std::max<int64_t>(parallel - 1, 1)) points_ *= n;
  }
  const int64_t ops = std::max<int64_t>(1, total * static_cast<int64_t>(nest.exprs.size()));
  grain_ = std::max<int64_t>(1, points_ * kChunkOps / ops);
  // Where a call takes elements of the vectors themselves, chunks are of whole vectors.
  if (parallel == 1 && nest.vector_axis == 0) grain_ = (grain_ + 63) / 64 * 64;
  cost.flops = static_cast<double>(ops);
}

void NestStep::link() {
  if (!kernels_.is_ready(kernel_) && !link_stand_in(true) && !link_stand_in(false)) kernels_.require(kernel_);
  function_ = kernels_.nest(linked_);
}

bool NestStep::link_stand_in(bool same_lanes) {
  const auto& wanted = std::get<kernel::LoopNest>(kernels_.source(kernel_));
  std::optional<std::vector<int64_t>> sizes;
  const auto other = kernels_.find_ready_nest([&](const kernel::LoopNest& nest) {
    sizes = stand_in_sizes(wanted, sizes_, nest, same_lanes);
    return sizes && kernel::scratch_bytes(nest, sizes->data()) <= scratch_;
  });
  if (!other) return false;
  linked_ = *other;
  sizes_ = std::move(*sizes);
  cut(std::get<kernel::LoopNest>(kernels_.source(linked_)));
  return true;
}

void NestStep::run(const Frame& frame) const {
  std::array<std::byte*, kMaxAccesses> memory;
  for (size_t i = 0; i < memory_.size(); ++i) memory[i] = frame.at(memory_[i].buffer, memory_[i].offset);
  auto chunk = [&](int64_t begin, int64_t end, int thread) {
    const kernel::KernelCall call{memory.data(), sizes_.data(), begin, end, frame.scratch_of(thread)};
    function_(&call);
  };
  if (points_ <= grain_)
    chunk(0, points_, 0);
  else
    frame.pool.parallel_for(points_, grain_, chunk);
}

std::vector<int32_t> NestStep::reads_in_place() const {
  const Place& store = memory_.back();
  std::vector<int32_t> buffers;
  if (reduces_) return buffers;
  for (size_t i = 0; i + 1 < memory_.size(); ++i) {
    const Place& load = memory_[i];
    const auto reads = std::ranges::count(memory_, load.buffer, &Place::buffer);
    if (load.lies_like(store) && reads == 1) buffers.push_back(load.buffer);
  }
  return buffers;
}

std::string NestStep::describe() const {
  const auto& nest = std::get<kernel::LoopNest>(kernels_.source(linked_));
  std::string axes;
  for (const kernel::Axis& axis : nest.axes)
    axes +=
        fmt::format("{}{}{}", axes.empty() ? "" : " x ", extent(axis, sizes_), axis.reduced ? " folded" : "");
  return fmt::format("nest {}, vectors along axis {}, {} chunks of {}", axes, nest.vector_axis,
                     (points_ + grain_ - 1) / grain_, grain_);
}

}  // namespace ingot::cpu
