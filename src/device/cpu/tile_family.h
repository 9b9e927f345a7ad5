#pragma once

#include "device/cpu/kernel_set.h"
#include "device/cpu/tile_plan.h"

namespace ingot::cpu {

// The kernels of one form of tiles at the heights that a step wants, and what runs where they are not there
// yet. Whatever runs gives the same bits: a stand-in sums as the kernel that it stands in for.
class TileFamily {
 public:
  TileFamily() = default;
  TileFamily(const TileTypes& types, const TileChoice& choice, kernel::LoopNest epilogue);

  void want(KernelSet& kernels, const std::vector<int>& heights);
  // Adds heights that can stand in for all others.
  void add_standbys(KernelSet& kernels) const;
  // Of what is ready. Compiles a height that neither it nor a stand-in is ready for.
  void link(KernelSet& kernels);

  const TileTypes& types() const { return types_; }
  const TileChoice& choice() const { return choice_; }
  const TileFunctions& functions() const { return functions_; }
  const std::vector<int>& ids() const { return ids_; }  // of the wanted kernels
  bool stands_in() const { return stands_in_; }         // not all wanted kernels run

 private:
  kernel::TileKernel kernel_of(int height, bool any_rows) const;
  bool slides() const { return choice_.window.taps != 0; }
  bool is_standby(int height) const;
  bool all_ready(const KernelSet& kernels) const;
  bool link_stand_in(KernelSet& kernels, int height);
  bool link_sliding(KernelSet& kernels);

  TileTypes types_;
  TileChoice choice_;
  kernel::LoopNest epilogue_;
  kernel::LoopNest row_epilogue_;  // the same with every access looked up for each row
  std::vector<int> heights_;
  std::vector<int> ids_;
  TileFunctions functions_;
  bool stands_in_ = false;
};

}  // namespace ingot::cpu
