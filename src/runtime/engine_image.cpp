#include "runtime/engine_image.h"

#include <algorithm>
#include <deque>

#include "engine/header.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kMostReads = 4;  // under way at once

struct Memory {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

template <class Fill>
Memory filled(size_t size, Fill fill) {
  if (size == 0) return {};
  Tensor memory = Tensor::allocate(DType::u8, {static_cast<int64_t>(size)});
  fill(memory.mutable_bytes());
  auto owner = std::make_shared<const Tensor>(std::move(memory));
  return {owner->bytes(), owner};
}

Memory copy_of(std::span<const std::byte> bytes) {
  return filled(bytes.size(), [&](std::span<std::byte> into) { std::ranges::copy(bytes, into.begin()); });
}

[[noreturn]] void fail_reader(const std::string& name, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::device,
               .object = "engine reader",
               .name = name,
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "See why the source gives too little, then open it again."});
}

// Reads that were started. None outlives this: their memory may go right after.
class Reads {
 public:
  Reads(EngineReader& reader, const std::string& name) : reader_(reader), name_(name) {}
  ~Reads() {
    for (Piece& piece : pieces_)
      if (piece.given.valid()) piece.given.wait();
  }
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;

  size_t count() const { return pieces_.size(); }

  void start(uint64_t offset, std::span<std::byte> into) {
    guarded(offset, into.size(), [&] {
      pieces_.push_back({offset, into.size(), {}});
      pieces_.back().given = reader_.read_async(offset, into);
      if (!pieces_.back().given.valid()) throw std::future_error(std::future_errc::no_state);
    });
  }

  void finish_first() {
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    size_t given = 0;
    guarded(piece.offset, piece.size, [&] { given = piece.given.get(); });
    if (given != piece.size) fail_reader(name_, wanted(piece.offset, piece.size), fmt::format("{}", given));
  }

 private:
  struct Piece {
    uint64_t offset = 0;
    size_t size = 0;
    std::future<size_t> given;
  };

  static std::string wanted(uint64_t offset, size_t size) {
    return fmt::format("{} bytes at {}", size, offset);
  }

  template <class Function>
  void guarded(uint64_t offset, size_t size, Function function) {
    try {
      function();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      fail_reader(name_, wanted(offset, size), e.what());
    }
  }

  EngineReader& reader_;
  const std::string& name_;
  std::deque<Piece> pieces_;
};

void read_all(EngineReader& reader, const std::string& name, uint64_t offset, std::span<std::byte> into) {
  Reads reads(reader, name);
  while (!into.empty()) {
    const auto piece = into.first(std::min(into.size(), kPiece));
    if (reads.count() == kMostReads) reads.finish_first();
    reads.start(offset, piece);
    offset += piece.size();
    into = into.subspan(piece.size());
  }
  while (reads.count() > 0) reads.finish_first();
}

bool is_aligned(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % kBlobAlignment == 0;
}

}  // namespace

EngineImage image_of(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                     const std::string& name) {
  const EngineHeader header = checked_header(bytes, bytes.size(), name);
  if (!owner || !is_aligned(bytes)) {
    Memory copy = copy_of(bytes);
    bytes = copy.bytes;
    owner = std::move(copy.owner);
  }
  return {bytes.first(header.weights_offset), bytes.subspan(header.weights_offset), owner, owner};
}

std::vector<std::byte> read_start(EngineReader& reader, const std::string& name) {
  std::vector<std::byte> start(std::min<uint64_t>(reader.size(), kMetadataOffset));
  read_all(reader, name, 0, start);
  return start;
}

EngineImage read_image(EngineReader& reader, const std::string& name, bool with_weights) {
  const uint64_t size = reader.size();
  const std::vector<std::byte> first = read_start(reader, name);
  const EngineHeader header = checked_header(first, size, name);
  Memory start = filled(header.weights_offset, [&](std::span<std::byte> into) {
    std::ranges::copy(first, into.begin());
    read_all(reader, name, first.size(), into.subspan(first.size()));
  });
  EngineImage image{start.bytes, {}, std::move(start.owner), nullptr};
  if (with_weights) read_weights(reader, name, image);
  return image;
}

void read_weights(EngineReader& reader, const std::string& name, EngineImage& image) {
  const EngineHeader header = decode_header(image.start);
  Memory weights = filled(header.file_size - header.weights_offset, [&](std::span<std::byte> into) {
    read_all(reader, name, header.weights_offset, into);
  });
  verify_weights(image.start, weights.bytes, name);
  image.weights = weights.bytes;
  image.weights_owner = std::move(weights.owner);
}

EnginePieces pieces_of(const EngineImage& image, bool is_deferred) {
  using Owners = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  EnginePieces pieces{
      .start = image.start, .weights = {}, .owner = image.start_owner, .is_deferred = is_deferred};
  if (is_deferred) return pieces;
  pieces.weights = image.weights;
  if (image.weights_owner && image.weights_owner != image.start_owner)
    pieces.owner = std::make_shared<const Owners>(image.start_owner, image.weights_owner);
  return pieces;
}

}  // namespace ingot
