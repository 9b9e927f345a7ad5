#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.h"

namespace ingot {

// Messages nest at most this deep; readers built on protobuf stop at the same depth by default.
inline constexpr int kMaxWireDepth = 100;

enum class WireType : uint8_t {
  varint = 0,
  fixed64 = 1,
  bytes = 2,
  group_start = 3,
  group_end = 4,
  fixed32 = 5
};

// The field a value belongs to, for error messages: `name` or `name[index]`.
struct WireField {
  static constexpr size_t kSingle = SIZE_MAX;

  WireField(const char* name) : name(name) {}  // NOLINT: a literal stands for a single field
  WireField(std::string_view name, size_t index) : name(name), index(index) {}

  std::string_view name;
  size_t index = kSingle;
};

// Reads one protobuf message from bytes that nobody has checked. Nothing is copied: texts and byte strings
// are views. Every fault throws Error(corrupt) that names the file, the path of the field, the byte offset,
// the value and the limit. A reader of a nested message points at its parent, so it must not outlive it;
// hence no copies.
//
//   while (reader.next()) switch (reader.field()) {
//     case 1: node.inputs.push_back(reader.text({"input", node.inputs.size()})); break;
//     default: reader.skip();
//   }
class WireReader {
 public:
  // `offset` is where `bytes` begin in the file. `file` is only named in errors, and must outlive the reader.
  WireReader(std::span<const std::byte> bytes, std::string_view file, size_t offset = 0);
  WireReader(const WireReader&) = delete;
  WireReader& operator=(const WireReader&) = delete;

  // Reads the header of the next field; false at the end of the message. The caller must then take or skip
  // its value.
  bool next();
  uint32_t field() const { return field_; }
  void skip();

  // The value of the current field. A wire type that does not fit is refused.
  int64_t int64(WireField field);
  int32_t int32(WireField field);  // refuses values beyond 32 bits, where protobuf would cut them off
  float float32(WireField field);
  std::span<const std::byte> bytes(WireField field);
  std::string_view text(WireField field);
  WireReader message(WireField field);

  // A repeated scalar, packed or not: a reader over nothing but the values, to be emptied with take_*().
  WireReader values(WireField field, WireType element);
  void append_int64s(const char* name, std::vector<int64_t>& out);
  void append_floats(const char* name, std::vector<float>& out);

  bool at_end() const { return cursor_ == bytes_.size(); }
  uint64_t take_varint();
  uint32_t take_fixed32();
  uint64_t take_fixed64();

  std::span<const std::byte> all() const { return bytes_; }  // the whole message or all values
  size_t offset() const { return base_; }                    // where all() begins in the file

  // Throws: the current field, the expectation with its limit, what was there.
  [[noreturn]] void fail(WireField field, std::string expected, std::string observed,
                         ErrorCode code = ErrorCode::corrupt) const;
  // Throws: the message has no such field.
  [[noreturn]] void missing(WireField field) const;

 private:
  WireReader(const WireReader& parent, WireField self, std::span<const std::byte> bytes, int depth);

  std::string path(WireField field) const;
  [[noreturn]] void fail_here(std::string expected, std::string observed) const;
  void expect(WireType type, WireField field) const;
  std::span<const std::byte> take(size_t count);
  std::span<const std::byte> take_length_prefixed(WireField field);

  std::span<const std::byte> bytes_;
  std::string_view file_;
  const WireReader* parent_ = nullptr;
  WireField self_ = "";
  size_t base_ = 0;    // offset of bytes_ in the file
  size_t cursor_ = 0;  // of the next unread byte in bytes_
  size_t mark_ = 0;    // of the header or value last read in bytes_: where errors point
  uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  int depth_ = 0;
};

// Text for an error message: control characters and invalid UTF-8 as \xNN, cut after 128 bytes.
std::string printable(std::string_view text);

}  // namespace ingot
