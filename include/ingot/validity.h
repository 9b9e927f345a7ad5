#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingot/export.h"

// Whether this build can use an engine file, from its first 64 bytes alone.
namespace ingot {

enum class EngineStatus : uint8_t {
  valid,
  suboptimal,  // it opens, with the limits that the findings name
  invalid,     // it does not open
};

// Bits of EngineValidity::reasons.
enum class EngineReason : uint32_t {
  malformed = 1 << 0,          // not an engine file, or fields that contradict each other
  truncated = 1 << 1,          // the file is shorter than its header says
  oversized = 1 << 2,          // the file is longer than its header says
  version_too_new = 1 << 3,    // this reader is too old: written for later ones only
  version_too_old = 1 << 4,    // of a format version that is no longer read
  missing_feature = 1 << 5,    // needs something that this build does not know
  too_little_memory = 1 << 6,  // the weights exceed the memory given in the query
  newer_format = 1 << 7,       // of a later format version, which this build reads in part: suboptimal
  weights_stripped = 1 << 8,   // cannot run before it gets its weights back: suboptimal
  hash_mismatch = 1 << 9,      // the header, or what verify() reads, is not what was written
  // Of the machine, found by Runtime::check_validity():
  missing_device_feature = 1 << 10,  // the processor lacks what the configuration asks for; or, suboptimal,
                                     // what compiled kernels need
  library_too_old = 1 << 11,         // the kernel compiler is of another build: suboptimal
  installation_error = 1 << 12,      // the kernel compiler cannot be found: suboptimal
};

struct EngineFinding {
  EngineReason reason;
  std::string text;    // what was expected and what was found
  std::string remedy;  // what to do
};

struct EngineValidity {
  EngineStatus status = EngineStatus::valid;
  uint32_t reasons = 0;                 // EngineReason bits of the findings
  std::vector<EngineFinding> findings;  // empty when valid
  // From the header, when it is not malformed.
  uint32_t format_version = 0;
  std::string producer;       // "Ingot 0.1.0"
  uint64_t file_size = 0;     // bytes
  uint64_t weight_bytes = 0;  // bytes of memory that the weights take once touched

  bool has(EngineReason reason) const { return (reasons & static_cast<uint32_t>(reason)) != 0; }
};

struct ValidityQuery {
  std::optional<uint64_t> file_size;  // of the whole file, if known
  std::optional<uint64_t> memory;     // bytes that may be used for weights
};

// `bytes` holds at least the first 64 bytes of the file; fewer means that it is truncated or malformed. Never
// throws for their content. Thread-safe.
INGOT_API EngineValidity check_engine_header(std::span<const std::byte> bytes,
                                             const ValidityQuery& query = {});

}  // namespace ingot
