// The text form of dimensions: printing and parsing.
#include <charconv>
#include <limits>

#include "ingot/error.h"
#include "ir/dim_internal.h"

namespace ingot {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

bool is_plain(std::string_view name) {
  return is_letter(name.front()) && std::all_of(name.begin(), name.end(), continues_name);
}

void append_name(std::string& out, std::string_view name) {
  if (is_plain(name)) {
    out += name;
    return;
  }
  out += '"';
  for (char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

void append_atom(std::string& out, const DimAtom& atom) {
  if (atom.kind == DimKind::symbol) return append_name(out, atom.name);
  out += name_of(atom.kind);
  for (size_t i = 0; i < atom.operands.size(); ++i) {
    out += i == 0 ? "(" : ", ";
    out += atom.operands[i].to_string();
  }
  out += ')';
}

// Joins a part to a sum that may be empty and returns the magnitude to print. The most negative number has
// none in 64 bits and keeps its sign.
std::string join(std::string& out, int64_t number) {
  const bool minus = number < 0 && number != kLowest;
  if (out.empty()) {
    out += minus ? "-" : "";
  } else {
    out += minus ? " - " : " + ";
  }
  return std::to_string(minus ? -number : number);
}

class Parser {
 public:
  Parser(std::string_view text, const std::function<Dim(std::string_view)>& symbol)
      : text_(text), symbol_(symbol) {}

  Dim parse_all() {
    if (text_.size() > kMaxText) fail("at most 65536 characters");
    Dim dim = parse_sum();
    skip_spaces();
    if (at_ != text_.size()) fail("an operator or the end");
    return dim;
  }

 private:
  // More than any expression of Dim::kMaxNodes prints; they bound the stack and the time that hostile text
  // takes.
  static constexpr int kMaxDepth = 250;
  static constexpr int kMaxOperands = 1000;
  static constexpr size_t kMaxText = 65536;
  static constexpr size_t kMaxShown = 200;

  [[noreturn]] void fail(const std::string& expected) const {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "dimension expression",
                 .name = std::string(text_.substr(0, kMaxShown)),
                 .expected = expected,
                 .observed = at_ < text_.size() ? fmt::format("'{}' at character {}", text_[at_], at_ + 1)
                                                : std::string("the end")});
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    skip_spaces();
    if (next() != c) return false;
    ++at_;
    return true;
  }

  void require(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }

  Dim parse_sum() {
    if (++depth_ > kMaxDepth) fail(fmt::format("at most {} nested brackets", kMaxDepth));
    Dim sum = parse_product();
    for (;;) {
      if (take('+')) {
        sum = sum + parse_product();
      } else if (take('-')) {
        sum = sum - parse_product();
      } else {
        --depth_;
        return sum;
      }
    }
  }

  Dim parse_product() {
    Dim product = parse_factor();
    while (take('*')) product = product * parse_factor();
    return product;
  }

  Dim parse_factor() {
    if (++operands_ > kMaxOperands) fail(fmt::format("at most {} operands", kMaxOperands));
    skip_spaces();
    if (next() == '-') return parse_negative();
    if (is_digit(next())) return parse_number(at_);
    if (is_letter(next())) return parse_name_or_call();
    if (take('"')) return symbol_(parse_quoted());
    if (!take('(')) fail("a number, a name or '('");
    Dim inner = parse_sum();
    require(')');
    return inner;
  }

  Dim parse_negative() {
    const size_t start = at_++;
    if (is_digit(next())) return parse_number(start);
    if (++depth_ > kMaxDepth) fail(fmt::format("at most {} nested signs", kMaxDepth));
    Dim negated = -parse_factor();
    --depth_;
    return negated;
  }

  Dim parse_number(size_t start) {
    while (is_digit(next())) ++at_;
    int64_t value = 0;
    const auto result = std::from_chars(text_.data() + start, text_.data() + at_, value);
    if (result.ec != std::errc()) {
      at_ = start;
      fail("a number within 64 bits");
    }
    return value;
  }

  Dim parse_name_or_call() {
    const size_t start = at_;
    while (continues_name(next())) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (!take('(')) return symbol_(name);
    Dim result = parse_sum();
    require(',');
    do {
      result = apply(name, start, result, parse_sum());
    } while (is_chain(name) && take(','));
    require(')');
    return result;
  }

  static bool is_chain(std::string_view name) { return name == "min" || name == "max"; }

  Dim apply(std::string_view name, size_t start, const Dim& a, const Dim& b) {
    if (name == "floordiv") return floordiv(a, b);
    if (name == "ceildiv") return ceildiv(a, b);
    if (name == "mod") return mod(a, b);
    if (name == "min") return min(a, b);
    if (name == "max") return max(a, b);
    at_ = start;
    fail("floordiv, ceildiv, mod, min or max before '('");
  }

  std::string parse_quoted() {
    std::string name;
    while (next() != '"') {
      if (at_ >= text_.size()) fail("'\"' after a name");
      if (next() == '\\') {
        ++at_;
        name += parse_escape();
      } else {
        name += text_[at_++];
      }
    }
    ++at_;
    return name;
  }

  char parse_escape() {
    if (next() == '"' || next() == '\\') return text_[at_++];
    unsigned value = 0;
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 2);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (next() != 'x' || digits.size() != 2 || result.ptr != digits.data() + 2) {
      fail("'\"', '\\' or x and two hexadecimal digits after '\\'");
    }
    at_ += 3;
    return static_cast<char>(value);
  }

  std::string_view text_;
  const std::function<Dim(std::string_view)>& symbol_;
  size_t at_ = 0;
  int depth_ = 0;
  int operands_ = 0;
};

}  // namespace

std::string_view name_of(DimKind kind) {
  switch (kind) {
    case DimKind::symbol: return "symbol";
    case DimKind::floordiv: return "floordiv";
    case DimKind::mod: return "mod";
    case DimKind::min: return "min";
    case DimKind::max: return "max";
  }
  return "";
}

std::string Dim::to_string() const {
  std::string out;
  for (const DimTerm& term : DimAccess::terms(*this)) {
    const std::string magnitude = join(out, term.coefficient);
    if (magnitude != "1") out += magnitude + "*";
    for (size_t i = 0; i < term.factors.size(); ++i) {
      if (i > 0) out += '*';
      append_atom(out, *term.factors[i]);
    }
  }
  if (value_ != 0 || is_constant()) {
    const std::string magnitude = join(out, value_);
    out += magnitude;
  }
  return out;
}

Dim Dim::parse(std::string_view text) {
  return parse(text, [](std::string_view name) { return symbol(name); });
}

Dim Dim::parse(std::string_view text, const std::function<Dim(std::string_view name)>& symbol) {
  return Parser(text, symbol).parse_all();
}

}  // namespace ingot
