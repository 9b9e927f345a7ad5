#include "device/cpu/packed_weights.h"

#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/block_digest.h"
#include "base/blocked_signals.h"
#include "base/checked.h"
#include "base/paged_memory.h"
#include "device/cpu/packing_digest.h"
#include "ingot/error.h"

namespace ingot::cpu {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr size_t kBlockBytes = size_t{32} << 20;  // of address space; memory is taken as it is written

// The index is the checked part of the cache entry, sorted by key; pieces follow it.
struct Row {
  Digest key;
  uint64_t offset;  // in the payload
  uint64_t bytes;
  Digest content;
};

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

std::string file_key_of(const std::string& engine_key) {
  return engine_key.empty() ? ""
                            : "weights-" + to_hex(sha256(fmt::format("{}\n{}", kPackingDigest, engine_key)));
}

// Calls `done` for each piece, once it has been read.
std::vector<Row> index_of(const std::map<Digest, std::span<const std::byte>>& pieces,
                          const std::function<void(std::span<const std::byte>)>& done) {
  std::vector<Row> rows;
  uint64_t offset = aligned(sizeof(uint64_t) + pieces.size() * sizeof(Row));
  for (const auto& [key, bytes] : pieces) {
    rows.push_back({key, offset, bytes.size(), block_digest(bytes)});
    offset = aligned(offset + bytes.size());
    done(bytes);
  }
  return rows;
}

// The count, then the rows.
std::vector<std::byte> bytes_of(const std::vector<Row>& rows) {
  const uint64_t count = rows.size();
  std::vector<std::byte> bytes(sizeof(count) + rows.size() * sizeof(Row));
  std::memcpy(bytes.data(), &count, sizeof(count));
  if (count > 0) std::memcpy(bytes.data() + sizeof(count), rows.data(), rows.size() * sizeof(Row));
  return bytes;
}

// The folder, or the nearest one above it that exists already.
std::string existing_folder(std::filesystem::path folder) {
  std::error_code ignored;
  while (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return folder.empty() ? std::filesystem::temp_directory_path().string() : folder.string();
}

// Nothing where the payload is not what publish() writes.
std::optional<std::vector<Row>> read_index(std::span<const std::byte> payload) {
  uint64_t count = 0;
  if (payload.size() < sizeof(count)) return std::nullopt;
  std::memcpy(&count, payload.data(), sizeof(count));
  if (count > (payload.size() - sizeof(count)) / sizeof(Row)) return std::nullopt;
  std::vector<Row> rows(count);
  if (count > 0) std::memcpy(rows.data(), payload.data() + sizeof(count), count * sizeof(Row));
  for (const Row& row : rows)
    if (row.offset % kAlignment != 0 || !range_fits(row.offset, row.bytes, payload.size()))
      return std::nullopt;
  return rows;
}

}  // namespace

std::string_view packing_digest() { return kPackingDigest; }

void PackedWeights::Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

PackedWeights::PackedWeights(std::shared_ptr<Cache> cache, const std::string& engine_key,
                             Diagnostics diagnostics, const EntryInfo& info,
                             std::shared_ptr<MemoryAccount> memory, WeightStream* stream)
    : cache_(cache ? std::move(cache) : std::make_shared<Cache>("")),
      file_key_(file_key_of(engine_key)),
      info_{.target = info.target,
            .generator = digest_from_hex(kPackingDigest).value_or(Digest{}),
            .engine = info.engine},
      diagnostics_(std::move(diagnostics)),
      account_(std::move(memory)),
      stream_(stream) {
  open();
}

PackedWeights::PackedWeights() : has_content_(false) {}

std::unique_ptr<PackedWeights> PackedWeights::without_content() {
  return std::unique_ptr<PackedWeights>(new PackedWeights());
}

void PackedWeights::open() {
  if (file_key_.empty()) return;
  file_ = cache_->find(file_key_);
  if (!file_) return;
  const auto payload = file_->payload();
  const auto rows = read_index(payload);
  if (!rows) return cache_->drop_damaged(file_key_, "not a list of packed weights");
  if (stream_ && file_->is_file()) stream_->add_pages(payload);
  for (const Row& row : *rows) stored_[row.key] = {payload.subspan(row.offset, row.bytes), row.content};
}

// Plans of new shapes ask for pieces that are there: no digest is made for those.
std::pair<Digest, std::shared_ptr<PackedWeights::Piece>> PackedWeights::piece(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto [digest, is_new] = digests_.try_emplace(key);
  if (is_new) digest->second = sha256(key);
  auto& piece = pieces_[digest->second];
  if (!piece) piece = std::make_shared<Piece>();
  return {digest->second, piece};
}

std::span<const std::byte> PackedWeights::get(const std::string& key, size_t bytes,
                                              const std::function<void(std::span<std::byte>)>& pack) {
  const auto [digest, piece] = this->piece(key);
  const std::lock_guard making(piece->mutex);
  if (!piece->ready && !take_from_file(digest, bytes, *piece)) {
    const std::span<std::byte> memory = allocate(bytes);
    if (has_content_) pack(memory);
    piece->bytes = memory;
    piece->ready = true;
    const std::lock_guard lock(mutex_);
    ++stats_.packed_pieces;
    stats_.packed_bytes += bytes;
    changed_ = true;
  }
  if (piece->bytes.size() == bytes) return piece->bytes;
  throw Error({.code = ErrorCode::internal,
               .object = "packed weights",
               .name = key,
               .expected = fmt::format("{} bytes, as before", piece->bytes.size()),
               .observed = fmt::format("{}", bytes)});
}

bool PackedWeights::take_from_file(const Digest& key, size_t bytes, Piece& piece) {
  const auto found = stored_.find(key);
  if (found == stored_.end()) return false;
  const Stored& stored = found->second;
  const bool sound = stored.bytes.size() == bytes && block_digest(stored.bytes) == stored.content;
  const auto content = sound ? streamable(stored.bytes) : std::span<const std::byte>();
  const std::lock_guard lock(mutex_);
  if (!sound) {
    ++stats_.damaged_pieces;
    diagnostics_.log(LogLevel::warning,
                     fmt::format("cache: {} bytes of packed weights in '{}/{}' have changed; they "
                                 "are made again",
                                 bytes, cache_->folder(), file_key_));
    return false;
  }
  ++stats_.mapped_pieces;
  stats_.mapped_bytes += bytes;
  piece.bytes = content;
  piece.ready = true;
  return true;
}

// A cache in memory keeps its entry there as well; that copy is not the weights' to drop.
std::span<const std::byte> PackedWeights::streamable(std::span<const std::byte> stored) {
  if (!stream_ || file_->is_file()) {
    drop(stored);
    return stored;
  }
  const auto copy = map_file(stored.size());
  std::ranges::copy(stored, copy.begin());
  drop(copy);
  return copy;
}

std::span<std::byte> PackedWeights::allocate(size_t bytes) {
  if (stream_) return map_file(bytes);
  if (!account_ || !account_->has_allocator()) return map(bytes);
  auto memory = MemoryAccount::allocate(account_, bytes, MemoryPurpose::weights);
  std::memset(memory.get(), 0, bytes);
  const std::lock_guard lock(mutex_);
  from_allocator_.push_back(memory);
  return {memory.get(), bytes};
}

std::span<std::byte> PackedWeights::map_file(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t taken = aligned(bytes);
  if (taken > free_.size()) {
    const size_t block = std::max(taken, kBlockBytes);
    from_allocator_.push_back(allocate_paged(existing_folder(cache_->folder()), block));
    free_ = {from_allocator_.back().get(), block};
    stream_->add_pages(free_);
  }
  const auto result = free_.first(bytes);
  free_ = free_.subspan(taken);
  return result;
}

void PackedWeights::drop(std::span<const std::byte> bytes) const {
  if (stream_ && stream_->is_streamable(bytes)) drop_pages(bytes);
}

std::span<std::byte> PackedWeights::map(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t taken = aligned(bytes);
  if (taken > free_.size()) {
    const size_t block = std::max(taken, kBlockBytes);
    void* memory = mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw Error({.code = ErrorCode::out_of_memory,
                   .object = "packed weights",
                   .expected = fmt::format("{} bytes of memory", block),
                   .observed = "a refused allocation"});
    memory_.push_back(Memory(static_cast<std::byte*>(memory), Unmap{block}));
    free_ = {static_cast<std::byte*>(memory), block};
  }
  const auto result = free_.first(bytes);
  free_ = free_.subspan(taken);
  if (account_) account_->add(MemoryPurpose::weights, taken);
  counted_bytes_ += taken;
  return result;
}

void PackedWeights::publish() {
  std::map<Digest, std::shared_ptr<Piece>> pieces;
  {
    const std::lock_guard lock(mutex_);
    if (!changed_ || file_key_.empty()) return;
    changed_ = false;
    pieces = pieces_;
  }
  std::map<Digest, std::span<const std::byte>> ready;
  for (const auto& [key, piece] : pieces) {
    const std::lock_guard making(piece->mutex);
    if (piece->ready) ready.emplace(key, piece->bytes);
  }
  const std::vector<std::byte> index = bytes_of(index_of(ready, [this](auto piece) { drop(piece); }));
  cache_->put(file_key_, info_, index, [&](AtomicFile& file) {
    for (const auto& [key, bytes] : ready) {
      file.append_zeros(aligned(file.size()) - file.size());
      file.append(bytes);
      drop(bytes);
    }
  });
}

PackedWeights::~PackedWeights() {
  if (publisher_.joinable()) publisher_.join();
  if (account_) account_->remove(MemoryPurpose::weights, counted_bytes_);
}

void PackedWeights::publish_later() {
  if (cache_->folder().empty() && !stream_) return;  // nothing to write, and no pages to give back
  const std::lock_guard publisher_lock(publisher_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (publishing_ || !changed_ || file_key_.empty())
      return;  // one that publishes looks again when it is done
    publishing_ = true;
  }
  if (publisher_.joinable()) publisher_.join();  // it has ended or is about to
  const BlockedSignals blocked;
  try {
    publisher_ = std::thread([this] { publish_until_idle(); });
  } catch (const std::system_error&) {  // no thread to be had
    publish_until_idle();
  }
}

void PackedWeights::publish_until_idle() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      publishing_ = changed_;
      if (!publishing_) return;
    }
    try {
      publish();
    } catch (const std::exception& error) {  // out of memory
      diagnostics_.log(LogLevel::warning,
                       fmt::format("cache: packed weights are not kept: {}", error.what()));
    }
  }
}

PackedWeightsStats PackedWeights::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace ingot::cpu
