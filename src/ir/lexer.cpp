#include "ir/lexer.h"

#include <cctype>
#include <charconv>

#include "ingot/error.h"

namespace ingot {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool Lexer::at_end() {
  skip_space();
  return at_ == text_.size();
}

char Lexer::peek() { return at_end() ? '\0' : text_[at_]; }

bool Lexer::accept(std::string_view token) {
  skip_space();
  if (text_.substr(at_, token.size()) != token) return false;
  size_t end = at_ + token.size();
  if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
  at_ = end;
  return true;
}

void Lexer::expect(std::string_view token) {
  if (!accept(token)) fail(fmt::format("'{}'", token));
}

template <class F>
std::string Lexer::take_while(F f, std::string_view what) {
  skip_space();
  size_t start = at_;
  while (at_ < text_.size() && f(text_[at_])) ++at_;
  if (at_ == start) fail(std::string(what));
  return std::string(text_.substr(start, at_ - start));
}

std::string Lexer::name() { return take_while(is_word, "a name"); }

std::string Lexer::number() {
  return take_while([](char c) { return is_word(c) || c == '-' || c == '+'; }, "a number");
}

std::string Lexer::hex_digits() {
  skip_space();
  if (text_.substr(at_, 2) != "0x") fail("'0x'");
  at_ += 2;
  size_t start = at_;
  while (at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
  return std::string(text_.substr(start, at_ - start));
}

int64_t Lexer::integer() {
  std::string digits = number();
  int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) fail("a 64-bit integer", digits);
  return value;
}

std::string Lexer::quoted() {
  expect("\"");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    char escape = at_ < text_.size() ? text_[at_++] : '\0';
    int value = 0;
    switch (escape) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case '"':
      case '\\': out += escape; break;
      case 'x':
        if (at_ + 2 > text_.size() ||
            std::from_chars(&text_[at_], &text_[at_] + 2, value, 16).ptr != &text_[at_] + 2)
          fail("two hexadecimal digits");
        out += static_cast<char>(value);
        at_ += 2;
        break;
      default: fail("one of the escapes \\n \\t \\\" \\\\ \\x");
    }
  }
  expect("\"");
  return out;
}

std::string Lexer::until(std::string_view stops) {
  skip_space();
  size_t start = at_;
  int depth = 0;
  bool quoted = false;
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    depth += (c == '(') - (c == ')');
  }
  size_t end = at_;
  while (end > start && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
  return std::string(text_.substr(start, end - start));
}

void Lexer::fail(std::string expected, std::string observed) {
  auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  size_t line_start = text_.rfind('\n', at_ == 0 ? 0 : at_ - 1);
  size_t column = at_ - (line_start == std::string_view::npos ? 0 : line_start);
  if (observed.empty())
    observed = at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 16)) : "the end";
  throw Error({.code = ErrorCode::corrupt,
               .object = fmt::format("graph text, line {}, column {}", line, column),
               .expected = std::move(expected),
               .observed = std::move(observed)});
}

}  // namespace ingot
