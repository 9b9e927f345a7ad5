#pragma once

#include "device/device.h"
#include "ingot/runtime.h"

namespace ingot {

// Bytes of memory that the weights of an engine may take; none: as many as there are.
std::optional<uint64_t> weight_limit(const RuntimeConfig& config);
// Throws Error(out_of_memory).
void require_memory(const std::string& engine, uint64_t weight_bytes, std::optional<uint64_t> limit);
// From the first bytes and the size of a file. Throws where it cannot be read.
EngineValidity check_file(const std::string& path, std::optional<uint64_t> memory);
void add_limits(EngineValidity& validity, const std::vector<DeviceLimit>& limits);
// What the rest of the file, whose header is sound, has wrong.
void add_damage(EngineValidity& validity, const std::string& path);

}  // namespace ingot
