#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot {

// Cuts the text form of a graph into what the parser asks for. White space and comments are skipped before
// each piece. Every failure throws Error(corrupt) with line and column.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  bool at_end();
  char peek();                          // the next character, 0 at the end
  bool accept(std::string_view token);  // takes the token if it is next; words must end there
  void expect(std::string_view token);
  std::string name();    // letters, digits, '_' and '.'
  std::string quoted();  // "text" with the escapes of quote()
  int64_t integer();
  std::string number();  // characters of an integer, a decimal or an exponent
  std::string hex_digits();
  // Everything up to one of the characters in `stops`, outside parentheses and quotes; trimmed.
  std::string until(std::string_view stops);

  [[noreturn]] void fail(std::string expected, std::string observed = {});

 private:
  void skip_space();
  template <class F>
  std::string take_while(F f, std::string_view what);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace ingot
