#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/atomic_file.h"

namespace ingot {

// Where an engine is written to: bytes are appended, and the header is replaced at the end.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void reserve(uint64_t /*size*/) {}  // how much will be written in all
  virtual void append(std::span<const std::byte> bytes) = 0;
  virtual void write_at(uint64_t offset, std::span<const std::byte> bytes) = 0;
};

class MemorySink : public ByteSink {
 public:
  void reserve(uint64_t size) override { bytes_.reserve(size); }
  void append(std::span<const std::byte> bytes) override;
  void write_at(uint64_t offset, std::span<const std::byte> bytes) override;
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Writes to a file that the caller commits.
class FileSink : public ByteSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}
  void append(std::span<const std::byte> bytes) override { file_.append(bytes); }
  void write_at(uint64_t offset, std::span<const std::byte> bytes) override { file_.write_at(offset, bytes); }

 private:
  AtomicFile& file_;
};

}  // namespace ingot
