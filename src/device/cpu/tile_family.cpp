#include "device/cpu/tile_family.h"

#include <algorithm>

namespace ingot::cpu {
namespace {

// Tiles that round alike have as many sums beside each other.
int sums_of(const TileTypes& types, const TileChoice& choice, int height) {
  return types.kind == kernel::TileKind::dot ? kernel::sums_per_element(height, choice.vectors) : 1;
}

// An epilogue with one row has accesses that are the same for all rows; where rows are many they differ.
kernel::LoopNest with_rows(kernel::LoopNest epilogue) {
  for (kernel::Access& access : epilogue.accesses) access.strides[0] = kernel::Size::of(1);
  return epilogue;
}

}  // namespace

TileFamily::TileFamily(const TileTypes& types, const TileChoice& choice, kernel::LoopNest epilogue)
    : types_(types), choice_(choice), epilogue_(std::move(epilogue)), row_epilogue_(with_rows(epilogue_)) {}

kernel::TileKernel TileFamily::kernel_of(int height, bool any_rows) const {
  return tile_kernels(types_, choice_, any_rows ? row_epilogue_ : epilogue_, {height})[0];
}

void TileFamily::want(KernelSet& kernels, const std::vector<int>& heights) {
  for (const int height : heights) {
    if (std::ranges::find(heights_, height) != heights_.end()) continue;
    heights_.push_back(height);
    ids_.push_back(kernels.add(kernel_of(height, false)));
  }
}

// Of the tiles that round alike the highest, and half of it, so that little is computed in vain. Lines of
// tiles that slide are put together of the highest, half of it, and tiles of one row.
bool TileFamily::is_standby(int height) const {
  if (height == choice_.rows || height == choice_.rows / 2) return true;
  if (slides()) return height == 1;
  return sums_of(types_, choice_, height + 1) != sums_of(types_, choice_, height);
}

void TileFamily::add_standbys(KernelSet& kernels) const {
  for (int height = 1; height <= choice_.rows; ++height) {
    if (!is_standby(height)) continue;
    kernels.add(kernel_of(height, false));
    kernels.add(kernel_of(height, true));
  }
}

bool TileFamily::all_ready(const KernelSet& kernels) const {
  return std::ranges::all_of(ids_, [&](int id) { return kernels.is_ready(id); });
}

void TileFamily::link(KernelSet& kernels) {
  functions_ = {};
  stands_in_ = false;
  if (slides() && !all_ready(kernels) && link_sliding(kernels)) return;
  for (size_t i = 0; i < heights_.size(); ++i) {
    if (!slides() && !kernels.is_ready(ids_[i]) && link_stand_in(kernels, heights_[i])) continue;
    kernels.require(ids_[i]);
    functions_.set(heights_[i], kernels.tile(ids_[i]), heights_[i]);
  }
}

bool TileFamily::link_stand_in(KernelSet& kernels, int height) {
  const int sums = sums_of(types_, choice_, height);
  for (int rows = height; rows <= choice_.rows && sums_of(types_, choice_, rows) == sums; ++rows)
    for (const bool any_rows : {false, true})
      if (const auto id = kernels.find_ready(kernel_of(rows, any_rows))) {
        functions_.set(height, kernels.tile(*id), rows);
        return stands_in_ = true;
      }
  return false;
}

// Any line can be put together where there are tiles of one row.
bool TileFamily::link_sliding(KernelSet& kernels) {
  for (const bool any_rows : {false, true}) {
    functions_ = {};
    for (int height = 1; height <= choice_.rows; ++height)
      if (const auto id = kernels.find_ready(kernel_of(height, any_rows)))
        functions_.set(height, kernels.tile(*id), height);
    if (functions_.of(1).function) return stands_in_ = true;
  }
  functions_ = {};
  return false;
}

}  // namespace ingot::cpu
