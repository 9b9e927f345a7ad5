#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/memory_account.h"
#include "base/sha256.h"
#include "cache/cache.h"
#include "device/cpu/weight_stream.h"
#include "ingot/logger.h"

namespace ingot::cpu {

// SHA-256, in hex, of the sources that decide how weights are packed.
std::string_view packing_digest();

struct PackedWeightsStats {
  uint64_t mapped_pieces = 0;  // taken from the cache
  uint64_t mapped_bytes = 0;
  uint64_t packed_pieces = 0;  // made by this process
  uint64_t packed_bytes = 0;
  uint64_t damaged_pieces = 0;  // in the cache, and made again
};

// The constants of one engine in the form that its kernels read, in one file of the cache: packed by the
// first process, mapped by those after it. Thread-safe. Pieces live as long as the object.
class PackedWeights {
 public:
  // An empty `engine_key` keeps nothing in the cache. What is packed here counts in `memory`, which may be
  // null, and comes from its allocator if it has one; with a stream it is pages of a file instead.
  PackedWeights(std::shared_ptr<Cache> cache, const std::string& engine_key, Diagnostics diagnostics = {},
                const EntryInfo& info = {}, std::shared_ptr<MemoryAccount> memory = nullptr,
                WeightStream* stream = nullptr);
  // Pieces have an address but are never packed: to find out what a plan needs.
  static std::unique_ptr<PackedWeights> without_content();
  ~PackedWeights();

  // `bytes` bytes at a multiple of 64. The first time anywhere, `pack` fills them, which are zero; several
  // threads may pack pieces at once. The key says which constant in which form. What comes from the cache is
  // checked against accidental damage when it is first asked for. Throws Error(out_of_memory), and what
  // `pack` throws.
  std::span<const std::byte> get(const std::string& key, size_t bytes,
                                 const std::function<void(std::span<std::byte>)>& pack);

  // Writes the file where pieces were packed since; to be called when all of them are there.
  void publish();
  // The same on a thread of its own, since it reads and writes all of them: for those who would answer first.
  // The destructor waits for it.
  void publish_later();

  PackedWeightsStats stats() const;

 private:
  struct Piece {
    std::mutex mutex;  // held while it is made
    std::span<const std::byte> bytes;
    bool ready = false;
  };
  struct Stored {  // a piece of the file
    std::span<const std::byte> bytes;
    Digest content = {};
  };
  struct Unmap {
    size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Unmap>;

  PackedWeights();
  void open();
  std::pair<Digest, std::shared_ptr<Piece>> piece(const std::string& key);
  bool take_from_file(const Digest& key, size_t bytes, Piece& piece);
  std::span<std::byte> allocate(size_t bytes);
  std::span<std::byte> map(size_t bytes);
  std::span<std::byte> map_file(size_t bytes);
  std::span<const std::byte> streamable(std::span<const std::byte> stored);
  void drop(std::span<const std::byte> bytes) const;  // from memory, where that does no harm
  void publish_until_idle();

  const std::shared_ptr<Cache> cache_;
  const std::string file_key_;
  const EntryInfo info_;  // of the file
  const Diagnostics diagnostics_;
  const std::shared_ptr<MemoryAccount> account_;
  WeightStream* const stream_ = nullptr;
  const bool has_content_ = true;
  std::shared_ptr<const CacheEntry> file_;  // neither it nor what lies in it changes after construction
  std::map<Digest, Stored> stored_;

  mutable std::mutex mutex_;  // guards all below; taken after that of a piece
  std::unordered_map<std::string, Digest> digests_;
  std::map<Digest, std::shared_ptr<Piece>> pieces_;
  std::vector<Memory> memory_;
  std::vector<std::shared_ptr<std::byte>> from_allocator_;  // or of files
  uint64_t counted_bytes_ = 0;                              // in the account, of memory_
  std::span<std::byte> free_;                               // the rest of the last memory
  bool changed_ = false;                                    // since the file was written
  bool publishing_ = false;                                 // by publisher_
  PackedWeightsStats stats_;

  std::mutex publisher_mutex_;  // guards publisher_; taken first
  std::thread publisher_;
};

}  // namespace ingot::cpu
