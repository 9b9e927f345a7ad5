#pragma once

#include "device/cpu/kernel_set.h"
#include "device/cpu/pack.h"
#include "device/cpu/plan.h"
#include "device/cpu/tile_family.h"

namespace ingot::cpu {

// What a tile step is made of; slot i of the problem is places[i].
struct TileWork {
  TileTypes types;
  TileChoice choice;
  kernel::LoopNest epilogue;
  TileProblem problem;
  std::vector<Place> places;
};

class TileStep : public Step {
 public:
  TileStep(KernelSet& kernels, TileWork work);
  void add_standbys() override;
  void link() override;
  bool stands_in() const override { return family_.stands_in(); }
  void run(const Frame& frame) const override;
  std::string describe() const override;
  int64_t scratch_bytes() const override;
  std::vector<int> kernels() const override { return family_.ids(); }

 private:
  KernelSet& kernels_;
  TileWork work_;
  TileFamily family_;
  std::unique_ptr<TileDriver> plan_;
};

// Packs b of a contraction while the program runs.
class PackStep : public Step {
 public:
  // One piece per entry of `offsets`, in bytes from the source's place; pieces follow each other in `to`.
  PackStep(PackSource source, PackLayout layout, std::vector<int64_t> offsets, Place from, Place to);
  void run(const Frame& frame) const override;
  std::string describe() const override;

 private:
  PackSource source_;
  PackLayout layout_;
  std::vector<int64_t> offsets_;
  Place from_;
  Place to_;
};

}  // namespace ingot::cpu
