#include "import/onnx/wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

#include "import/onnx/remedies.h"

namespace ingot {
namespace {

static_assert(std::endian::native == std::endian::little,
              "fixed-width values are read as they lie in the file");

constexpr uint64_t kMaxFieldNumber = (1u << 29) - 1;

std::string_view to_string(WireType type) {
  switch (type) {
    case WireType::varint: return "a varint";
    case WireType::fixed64: return "8 bytes";
    case WireType::bytes: return "length-prefixed bytes";
    case WireType::group_start: return "the start of a group";
    case WireType::group_end: return "the end of a group";
    case WireType::fixed32: return "4 bytes";
  }
  return "an unknown wire type";
}

template <class T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Length of the UTF-8 sequence that starts `text`, or 0 where it is invalid or a control character.
size_t printable_sequence(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(1);
  if ((first == 0xc2 && second < 0xa0) ||                                      // C1 control characters
      (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90) ||  // overlong
      (first == 0xed && second >= 0xa0) ||
      (first == 0xf4 && second >= 0x90)) {  // surrogates, beyond U+10FFFF
    return 0;
  }
  return length;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr size_t kLimit = 128;
  std::string out;
  while (!text.empty()) {
    if (out.size() >= kLimit) return out + "...";
    const size_t length = printable_sequence(text);
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

WireReader::WireReader(std::span<const std::byte> bytes, std::string_view file, size_t offset)
    : bytes_(bytes), file_(file), base_(offset) {}

WireReader::WireReader(const WireReader& parent, WireField self, std::span<const std::byte> bytes, int depth)
    : bytes_(bytes),
      file_(parent.file_),
      parent_(&parent),
      self_(self),
      base_(parent.base_ + static_cast<size_t>(bytes.data() - parent.bytes_.data())),
      depth_(depth) {}

bool WireReader::next() {
  if (at_end()) return false;
  const uint64_t key = take_varint();
  const uint64_t number = key >> 3;
  if (number == 0 || number > kMaxFieldNumber)
    fail_here(fmt::format("a field number from 1 to {}", kMaxFieldNumber), fmt::format("{}", number));
  const int type = static_cast<int>(key & 7);
  if (type == 3 || type == 4)
    fail_here("no groups", fmt::format("{}", to_string(static_cast<WireType>(type))));
  if (type > 5) fail_here("a wire type from 0 to 5", fmt::format("{}", type));
  field_ = static_cast<uint32_t>(number);
  type_ = static_cast<WireType>(type);
  return true;
}

void WireReader::skip() {
  switch (type_) {
    case WireType::varint: take_varint(); break;
    case WireType::fixed32: take(4); break;
    case WireType::fixed64: take(8); break;
    default: take_length_prefixed(""); break;
  }
}

int64_t WireReader::int64(WireField field) {
  expect(WireType::varint, field);
  return static_cast<int64_t>(take_varint());
}

int32_t WireReader::int32(WireField field) {
  const int64_t value = int64(field);
  if (value != static_cast<int32_t>(value)) fail(field, "a value of 32 bits", fmt::format("{}", value));
  return static_cast<int32_t>(value);
}

float WireReader::float32(WireField field) {
  expect(WireType::fixed32, field);
  return std::bit_cast<float>(take_fixed32());
}

std::span<const std::byte> WireReader::bytes(WireField field) {
  expect(WireType::bytes, field);
  return take_length_prefixed(field);
}

std::string_view WireReader::text(WireField field) {
  const auto value = bytes(field);
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

WireReader WireReader::message(WireField field) {
  const auto body = bytes(field);
  if (depth_ + 1 > kMaxWireDepth)
    fail(field, fmt::format("messages nested at most {} deep", kMaxWireDepth), fmt::format("{}", depth_ + 1));
  return WireReader(*this, field, body, depth_ + 1);
}

WireReader WireReader::values(WireField field, WireType element) {
  if (type_ == WireType::bytes) {
    const auto body = take_length_prefixed(field);
    const size_t size = element == WireType::fixed32 ? 4 : element == WireType::fixed64 ? 8 : 1;
    if (body.size() % size != 0)
      fail(field, fmt::format("a multiple of {} bytes", size), fmt::format("{} bytes", body.size()));
    return WireReader(*this, field, body, depth_);
  }
  expect(element, field);
  const size_t begin = cursor_;
  skip();
  return WireReader(*this, field, bytes_.subspan(begin, cursor_ - begin), depth_);
}

void WireReader::append_int64s(const char* name, std::vector<int64_t>& out) {
  for (WireReader list = values(name, WireType::varint); !list.at_end();)
    out.push_back(static_cast<int64_t>(list.take_varint()));
}

void WireReader::append_floats(const char* name, std::vector<float>& out) {
  for (WireReader list = values(name, WireType::fixed32); !list.at_end();)
    out.push_back(std::bit_cast<float>(list.take_fixed32()));
}

uint64_t WireReader::take_varint() {
  mark_ = cursor_;
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_end()) fail_here("a complete varint", "the end of the message inside it");
    const auto byte = static_cast<uint64_t>(bytes_[cursor_++]);
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  fail_here("a varint of at most 64 bits", "a longer one");
}

uint32_t WireReader::take_fixed32() {
  mark_ = cursor_;
  return load<uint32_t>(take(4));
}

uint64_t WireReader::take_fixed64() {
  mark_ = cursor_;
  return load<uint64_t>(take(8));
}

std::span<const std::byte> WireReader::take(size_t count) {
  const size_t left = bytes_.size() - cursor_;
  if (count > left)
    fail_here(fmt::format("{} more bytes", count), fmt::format("{} to the end of the message", left));
  const auto taken = bytes_.subspan(cursor_, count);
  cursor_ += count;
  return taken;
}

std::span<const std::byte> WireReader::take_length_prefixed(WireField field) {
  const uint64_t length = take_varint();
  const size_t left = bytes_.size() - cursor_;
  if (length > left) {
    fail(field, fmt::format("a length of at most {} bytes, the rest of the message", left),
         fmt::format("{}", length));
  }
  return take(static_cast<size_t>(length));
}

void WireReader::expect(WireType type, WireField field) const {
  if (type_ != type) fail(field, std::string(to_string(type)), std::string(to_string(type_)));
}

std::string WireReader::path(WireField field) const {
  std::string above = parent_ == nullptr ? "" : parent_->path(self_);
  if (field.name.empty()) return above;
  if (!above.empty()) above += '.';
  above += field.name;
  if (field.index != WireField::kSingle) above += fmt::format("[{}]", field.index);
  return above;
}

void WireReader::fail(WireField field, std::string expected, std::string observed, ErrorCode code) const {
  const std::string where = path(field);
  throw Error({.code = code,
               .object = "ONNX file",
               .name = printable(file_),
               .expected = std::move(expected),
               .observed = fmt::format("{} in {} at byte {}", observed, where.empty() ? "the message" : where,
                                       base_ + mark_),
               .remedy = code == ErrorCode::corrupt ? kDamagedOnnx : kUnsupportedOnnx});
}

void WireReader::fail_here(std::string expected, std::string observed) const {
  fail("", std::move(expected), std::move(observed));
}

void WireReader::missing(WireField field) const {
  const std::string where = path("");
  throw Error({.code = ErrorCode::corrupt,
               .object = "ONNX file",
               .name = printable(file_),
               .expected = fmt::format("the field {}", path(field)),
               .observed = fmt::format("none in the {} bytes of {} at byte {}", bytes_.size(),
                                       where.empty() ? "the file" : where, base_),
               .remedy = kDamagedOnnx});
}

}  // namespace ingot
