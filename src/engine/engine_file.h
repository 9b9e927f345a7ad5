#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "ingot/builder.h"
#include "ingot/graph.h"
#include "ingot/refit_mode.h"
#include "ingot/validity.h"

// The engine file as a value. FORMAT.md has every byte.
namespace ingot {

class ByteSink;
class ThreadPool;

// Constants up to this size are part of the metadata, which stays when weights are stripped.
inline constexpr size_t kLargestInlineConstant = 1024;

// A constant that a stripped engine lacks.
struct MissingWeights {
  std::string name;  // origin of the first node that uses it
  uint64_t size = 0;
  Digest sha256{};
  const std::byte* zeros = nullptr;  // what the graph reads in its place
};

// A weight that can be replaced: constants of the main graph, of one type, that stand for it.
struct RefitWeight {
  std::string name;
  std::vector<int32_t> nodes;
};

struct EngineContent {
  Graph graph = {};
  std::vector<Profile> profiles = {};
  std::vector<std::string> targets = {};
  std::string producer = {};  // set by the reader
  RefitMode refit = RefitMode::none;
  std::vector<RefitWeight> weights = {};  // sorted by name; none without a mode
  Digest structure{};                     // of the model without these weights; zero without a mode
  // Stripped engines: constants above kLargestInlineConstant read as zeros, each blob at an address of its
  // own, and `missing` tells what they should be. The graph then serves to look at, not to run.
  bool stripped = false;
  std::vector<MissingWeights> missing = {};     // set by the reader
  std::shared_ptr<const std::byte> zeros = {};  // that they point into
};

// Reads an engine of which `owner` keeps the bytes alive; constants are views into them. Checks everything
// but the SHA-256 of the weights, so it touches no page of theirs. `name` stands for the file in messages.
// Bytes that do not start at a multiple of 64 are copied. Throws Error: corrupt; incompatible (another format
// version, or ops and features that this build does not know, all listed); out_of_memory. Thread-safe.
EngineContent read_engine(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          std::string_view name);

// An engine whose weights lie apart: `start` is all before them, `weights` their section. Deferred: the
// weights are not there yet; constants read as zeros, as in a stripped engine.
struct EnginePieces {
  std::span<const std::byte> start;
  std::span<const std::byte> weights;
  std::shared_ptr<const void> owner;
  bool is_deferred = false;
};

// As above; `start` must begin at a multiple of 64.
EngineContent read_engine(const EnginePieces& pieces, std::string_view name);

// Throws Error(corrupt) unless this is the weights section that belongs to `start`.
void verify_weights(std::span<const std::byte> start, std::span<const std::byte> weights,
                    std::string_view name);

// As read_engine, and checks the SHA-256 of the weights and that padding is zero.
void verify_engine(std::span<const std::byte> bytes, std::string_view name);

// What verify_engine() would throw for a file whose header is sound, as findings.
std::vector<EngineFinding> find_damage(std::span<const std::byte> bytes, std::string_view name);

// Identifies an engine: SHA-256 of its header and section digests, and so of every byte. Throws
// Error(corrupt) for fewer bytes than these take.
Digest engine_digest(std::span<const std::byte> bytes);

struct WrittenEngine {
  uint64_t file_bytes = 0;
  uint64_t weight_bytes = 0;
  Digest digest{};  // engine_digest() of what was written
};

// Streams an engine into an empty sink, holding no weights. `pool` may be null. Calls `progress` now and then
// with the weight bytes done and in all; it may throw to stop.
WrittenEngine write_engine(const EngineContent& content, ByteSink& sink, ThreadPool* pool = nullptr,
                           const std::function<void(uint64_t done, uint64_t total)>& progress = {});

}  // namespace ingot
