#pragma once

#include <atomic>

#include "device/device.h"
#include "ingot/runtime.h"

namespace ingot {

// All of it is set before an application sees the engine, but for the counters.
struct Engine::State {
  std::string name;
  std::string identity;  // digest of the file
  std::string device;
  std::string producer;
  std::map<std::string, std::string> metadata;
  std::vector<Profile> profiles;
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::string missing_weights;             // what a stripped engine lacks, for messages; else empty
  std::shared_ptr<const Program> program;  // null while weights are missing
  Diagnostics diagnostics;
  EngineStats fixed;  // without the counters below
  std::atomic<uint64_t> contexts_created = 0;
  std::atomic<uint64_t> inferences = 0;
};

}  // namespace ingot
