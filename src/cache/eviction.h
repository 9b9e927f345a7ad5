#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Of the names of locks, which are temporaries too.
inline constexpr std::string_view kLockPrefix = ".ingot-lock-";

struct EvictionResult {
  uint64_t files = 0;  // deleted
  uint64_t bytes_left = 0;
};

// The size of all files of the folder; 0 where it cannot be read.
uint64_t folder_bytes(const std::string& folder);

// The names of the files that are entries.
std::vector<std::string> entry_names(const std::string& folder);

// Deletes the files that were used longest ago until at most `bytes` are left, and temporaries that a killed
// process left behind.
EvictionResult evict_oldest(const std::string& folder, uint64_t bytes);

}  // namespace ingot
