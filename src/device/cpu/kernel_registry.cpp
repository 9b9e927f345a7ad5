#include "device/cpu/kernel_registry.h"

#include <algorithm>

namespace ingot::cpu {

KernelRegistry& KernelRegistry::of_process() {
  static KernelRegistry registry;
  return registry;
}

std::shared_ptr<KernelRegistry::Slot> KernelRegistry::slot_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  auto& slot = slots_[key];
  if (!slot) slot = std::make_shared<Slot>();
  auto result = slot;
  forget_unused();
  return result;
}

// Kernels that nobody holds any more leave empty slots behind. A slot that others hold is in use.
void KernelRegistry::forget_unused() {
  if (slots_.size() < sweep_at_) return;
  std::erase_if(
      slots_, [](const auto& slot) { return slot.second.use_count() == 1 && slot.second->kernel.expired(); });
  sweep_at_ = std::max<size_t>(1024, 2 * slots_.size());
}

std::shared_ptr<const LoadedKernel> KernelRegistry::find(const std::string& key) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(key);
    if (found == slots_.end()) return nullptr;
    slot = found->second;
  }
  const std::unique_lock lock(slot->mutex, std::try_to_lock);
  return lock ? slot->kernel.lock() : nullptr;
}

std::shared_ptr<const LoadedKernel> KernelRegistry::get(const std::string& key,
                                                        const std::function<LoadedKernel()>& make) {
  const std::shared_ptr<Slot> slot = slot_of(key);
  const std::lock_guard lock(slot->mutex);
  if (auto kernel = slot->kernel.lock()) return kernel;
  auto made = std::make_shared<const LoadedKernel>(make());
  slot->kernel = made;
  return made;
}

}  // namespace ingot::cpu
