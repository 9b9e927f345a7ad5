#pragma once

#include "device/cpu/kernel_set.h"
#include "device/cpu/plan.h"
#include "kernel/loop_nest.h"

namespace ingot::cpu {

// Runs the kernel of a loop nest; `memory`: one place per access, loads first.
class NestStep : public Step {
 public:
  NestStep(KernelSet& kernels, const kernel::LoopNest& nest, std::vector<int64_t> sizes,
           std::vector<Place> loads, const Place& store);
  // Runs the kernel of another nest where its own is not ready.
  void link() override;
  bool stands_in() const override { return linked_ != kernel_; }
  void run(const Frame& frame) const override;
  std::string describe() const override;
  int64_t scratch_bytes() const override { return scratch_; }
  std::vector<int> kernels() const override { return {kernel_}; }
  std::vector<int32_t> reads_in_place() const override;

 private:
  void cut(const kernel::LoopNest& nest);
  bool link_stand_in(bool same_lanes);

  KernelSet& kernels_;
  int kernel_;
  int linked_;
  kernel::KernelFunction function_ = nullptr;
  std::vector<int64_t> sizes_;
  std::vector<Place> memory_;
  int64_t points_ = 1;  // of the space that calls share out
  int64_t grain_ = 1;
  int64_t scratch_ = 0;
  bool reduces_ = false;
};

}  // namespace ingot::cpu
