#pragma once

#include "device/cpu/kernel_set.h"
#include "device/cpu/pack.h"
#include "device/cpu/plan.h"
#include "device/cpu/reference_group.h"
#include "device/cpu/tile_family.h"

namespace ingot::cpu {

inline constexpr int64_t kWinogradProducts = 16;  // of a tile and channel

// A nest whose points are the tiles, with the memory it reaches apart from scratch.
struct WinogradNest {
  kernel::LoopNest nest;
  std::vector<int64_t> sizes;
  std::vector<Place> places;  // by access; none: one of the 16 matrices in scratch, in order
};

struct WinogradWork {
  int64_t tiles = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  TileTypes types;
  TileChoice choice;
  kernel::LoopNest product;  // the epilogue that only stores
  Place weights;             // 16 packed matrices
  int64_t weights_stride = 0;
  WinogradNest input;
  WinogradNest output;
};

// For every chunk of tiles: transforms inputs, multiplies 16 matrices, transforms outputs.
class WinogradStep : public Step {
 public:
  // `exact` runs instead where a product is not finite: a transform mixes the inputs of a tile, so that
  // infinities and NaN would spread.
  WinogradStep(KernelSet& kernels, WinogradWork work, std::unique_ptr<const ReferenceGroup> exact);
  void add_standbys() override { product_.add_standbys(kernels_); }
  void link() override;
  bool stands_in() const override { return product_.stands_in(); }
  void run(const Frame& frame) const override;
  std::string describe() const override;
  int64_t scratch_bytes() const override;
  std::vector<int> kernels() const override;

 private:
  int64_t chunk_begin(int64_t chunk) const { return chunk * work_.tiles / chunks_; }
  int64_t matrix_bytes(int64_t channels) const;
  TileProblem product_of(int64_t tiles) const;
  void run_nest(const WinogradNest& nest, kernel::KernelFunction function, const Frame& frame,
                std::byte* matrices, int64_t channels, int64_t begin, int64_t end) const;
  // Whether all products are finite.
  bool run_chunk(const Frame& frame, int64_t begin, int64_t end, std::byte* scratch) const;

  KernelSet& kernels_;
  WinogradWork work_;
  std::unique_ptr<const ReferenceGroup> exact_;
  int64_t chunks_ = 1;
  int64_t most_tiles_ = 0;  // of a chunk; others have one less
  int input_kernel_ = 0;
  int output_kernel_ = 0;
  kernel::KernelFunction input_ = nullptr;
  kernel::KernelFunction output_ = nullptr;
  TileFamily product_;
  std::array<std::unique_ptr<TilePlan>, 2> products_;  // of most_tiles_, and of one less
};

}  // namespace ingot::cpu
