#pragma once

#include "cache/cache.h"
#include "device/device.h"
#include "ingot/runtime_cache.h"

namespace ingot {

struct RuntimeCache::State {
  std::shared_ptr<Cache> cache;
};

// Whether this machine and this version can use what an entry holds.
CodeUse use_of_entry(const EntryInfo& info);

}  // namespace ingot
