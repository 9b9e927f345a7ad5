#include "tensor_io/npy_header.h"

#include <charconv>

#include "base/checked.h"
#include "import/onnx/wire.h"
#include "ingot/error.h"

namespace ingot {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 64;  // as in NumPy

// Reads the one Python literal that a header is: a dictionary of texts, booleans and a tuple of integers.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  [[noreturn]] void fail(std::string expected) const {
    std::string_view rest = text_.substr(at_, 20);
    throw Error({.code = ErrorCode::corrupt,
                 .object = "NumPy file",
                 .name = std::string(file_),
                 .expected = std::move(expected),
                 .observed = rest.empty()
                                 ? "the end of the header"
                                 : fmt::format("'{}' at character {} of the header", printable(rest), at_),
                 .remedy = "Write the file again with numpy.save()."});
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void require(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool at_list() {
    skip_space();
    return at_ < text_.size() && text_[at_] == '[';
  }

  std::string text() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a text in quotes");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a closing quote");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  bool boolean() {
    skip_space();
    for (bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False");
  }

  Shape shape() {
    require('(');
    Shape out;
    while (!accept(')')) {
      if (out.size() == kMaxRank) fail(fmt::format("at most {} dimensions", kMaxRank));
      out.push_back(integer());
      if (!accept(',')) {
        require(')');
        break;
      }
    }
    return out;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  int64_t integer() {
    skip_space();
    int64_t value = -1;
    const char* begin = text_.data() + at_;
    auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status != std::errc() || value < 0) fail("a size from 0 to 2^63 - 1");
    at_ += static_cast<size_t>(end - begin);
    accept('L');  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
};

[[noreturn]] void refuse_descr(std::string_view file, std::string_view descr) {
  throw Error({.code = ErrorCode::unsupported,
               .object = "NumPy file",
               .name = std::string(file),
               .expected = "an array of booleans, integers, real numbers or texts",
               .observed = fmt::format("elements of type '{}'", printable(descr)),
               .remedy = "Convert the array with astype() before saving it."});
}

// "<f4": byte order, kind, and bytes of one element (of one character for U).
void parse_descr(NpyHeader& header, std::string_view file) {
  const std::string& descr = header.descr;
  const std::string_view kinds = "biufUSV";
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos ||
      kinds.find(descr[1]) == std::string_view::npos)
    refuse_descr(file, descr);
  uint32_t size = 0;
  const char* end = descr.data() + descr.size();
  auto [stop, status] = std::from_chars(descr.data() + 2, end, size);
  if (status != std::errc() || stop != end || size == 0 || size > (uint32_t{1} << 29))
    refuse_descr(file, descr);
  header.big_endian = descr[0] == '>';
  header.kind = descr[1];
  header.item_size = header.kind == 'U' ? size_t{4} * size : size;
}

void parse_dictionary(NpyHeader& header, HeaderText& text, std::string_view file) {
  bool has_descr = false, has_order = false, has_shape = false;
  text.require('{');
  while (!text.accept('}')) {
    const std::string key = text.text();
    text.require(':');
    if (key == "descr" && !has_descr) {
      if (text.at_list()) refuse_descr(file, "a structure");
      header.descr = text.text();
      has_descr = true;
    } else if (key == "fortran_order" && !has_order) {
      header.fortran_order = text.boolean();
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      header.shape = text.shape();
      has_shape = true;
    } else {
      text.fail("each of descr, fortran_order and shape once before this");
    }
    if (!text.accept(',')) {
      text.require('}');
      break;
    }
  }
  if (!has_descr || !has_order || !has_shape || !text.at_end())
    text.fail("one dictionary with descr, fortran_order and shape");
}

[[noreturn]] void fail_start(std::string_view file, std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::corrupt,
               .object = "NumPy file",
               .name = std::string(file),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Write the file with numpy.save()."});
}

// The text between the fixed start and the data; sets data_offset.
std::string_view header_text(NpyHeader& header, std::span<const std::byte> bytes, std::string_view file) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!all.starts_with(kMagic)) fail_start(file, "the bytes \\x93NUMPY at the start", "something else");
  const auto byte = [&](size_t i) { return i < bytes.size() ? std::to_integer<uint32_t>(bytes[i]) : 0; };
  const uint32_t version = byte(6);
  if (version < 1 || version > 3)
    fail_start(file, "format version 1, 2 or 3", fmt::format("version {}", version));
  const size_t start = version == 1 ? 10 : 12;
  uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | uint64_t{byte(11)} << 24;
  if (!range_fits(start, length, bytes.size()))
    fail_start(file, fmt::format("a header of {} bytes", start + length),
               fmt::format("{} bytes in all", bytes.size()));
  header.data_offset = start + length;
  return all.substr(start, length);
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view file) {
  NpyHeader header;
  HeaderText text(header_text(header, bytes, file), file);
  parse_dictionary(header, text, file);
  parse_descr(header, file);
  const auto count = try_product(header.shape);
  if (!count || *count > int64_t{1} << 62)
    fail_start(file, "fewer than 2^62 elements", "shape " + to_string(header.shape));
  header.count = *count;
  return header;
}

std::string format_npy_header(std::string_view descr, const Shape& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // As NumPy pads: room for the first size to grow to 21 digits, then to a multiple of 64 with the line
  // break.
  if (!shape.empty()) text.append(21 - std::to_string(shape[0]).size(), ' ');
  constexpr size_t kStart = 10;
  text.append(64 - (kStart + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace ingot
