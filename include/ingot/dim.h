#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

// An integer, known now or only at run time: a constant, or an expression over named symbols such as
// `2*batch + 1` or `floordiv(n + 1, 2)`. Used for the sizes of a shape and for arithmetic on them, so values
// may be negative. Immutable and cheap to copy; safe to share between threads.
//
// An expression is held in a canonical form, a sum of products, so that equal polynomials compare equal
// however they were built: `(n + 1)*m == m + m*n`. Rounding divisions, minima and maxima are simplified where
// that can be proven (`floordiv(2*n + 1, 2) == n`) and are otherwise compared by their canonical operands.
//
// Every operation may throw Error(invalid_argument) when a coefficient leaves 64 bits or a divisor is zero,
// and Error(out_of_memory) when the expression would exceed kMaxNodes. A simplification may drop an operand,
// and with it a division by zero that the operand would have met at run time.
class INGOT_API Dim {
 public:
  static constexpr int64_t kMax = int64_t{1} << 48;  // no size of a tensor is larger
  static constexpr size_t kMaxNodes = 200;           // symbols, products and calls in one expression

  Dim(int64_t value = 0) : value_(value) {}  // NOLINT: a plain number is a size; allocates nothing

  // A named unknown within [low, high]. Equal names are equal sizes, whatever characters they hold: a name
  // that reads like arithmetic is still one symbol. Give one name one range: ranges do not take part in
  // comparison.
  static Dim symbol(std::string_view name, int64_t low = 0, int64_t high = kMax);

  bool is_constant() const { return sum_ == nullptr; }
  int64_t constant() const;  // throws Error(internal) when not constant
  std::optional<int64_t> value() const;

  // Proven bounds; INT64_MIN and INT64_MAX also stand for "none known".
  int64_t low() const;
  int64_t high() const;
  // True when proven for every value of the symbols. False may also mean "not known".
  bool divisible_by(int64_t n) const;

  // The name when this is a symbol and nothing more. The view lives as long as this Dim or a copy of it.
  std::optional<std::string_view> symbol_name() const;

  // `2*batch + 1`. Names other than [A-Za-z_][A-Za-z0-9_.]* are quoted: `"batch size" - 1`.
  std::string to_string() const;
  // Reads what to_string wrote; also spaces, brackets and ceildiv. Symbols get the default range, or come
  // from `symbol` when given. Throws Error(invalid_argument).
  static Dim parse(std::string_view text);
  static Dim parse(std::string_view text, const std::function<Dim(std::string_view name)>& symbol);

  // Replaces the symbols for which `binding` has a value, and simplifies. With every symbol bound to a
  // constant the result is a constant. Values outside the range of a symbol are the caller's mistake and give
  // wrong results.
  Dim substitute(const std::function<std::optional<Dim>(std::string_view name)>& binding) const;

  // Calls `visit` for each symbol, in the order of the text form; a symbol that occurs twice is visited
  // twice.
  void visit_symbols(
      const std::function<void(std::string_view name, int64_t low, int64_t high)>& visit) const;

  size_t hash() const;  // equal expressions have equal hashes; not stable between runs

  friend Dim operator+(const Dim& a, const Dim& b) { return add(a, b); }
  friend Dim operator-(const Dim& a, const Dim& b) { return subtract(a, b); }
  friend Dim operator*(const Dim& a, const Dim& b) { return multiply(a, b); }
  friend Dim operator-(const Dim& a) { return subtract(0, a); }
  friend bool operator==(const Dim& a, const Dim& b) { return equal(a, b); }

 private:
  friend struct DimAccess;  // the implementation

  static Dim add(const Dim& a, const Dim& b);
  static Dim subtract(const Dim& a, const Dim& b);
  static Dim multiply(const Dim& a, const Dim& b);
  static bool equal(const Dim& a, const Dim& b);

  int64_t value_;                             // the constant, or the constant addend of sum_
  std::shared_ptr<const struct DimSum> sum_;  // the terms that hold symbols; null for a constant
};

// Rounded towards minus infinity, as `//` and `%` of Python: mod has the sign of the divisor.
INGOT_API Dim floordiv(const Dim& a, const Dim& b);
INGOT_API Dim ceildiv(const Dim& a, const Dim& b);
INGOT_API Dim mod(const Dim& a, const Dim& b);
INGOT_API Dim min(const Dim& a, const Dim& b);
INGOT_API Dim max(const Dim& a, const Dim& b);

}  // namespace ingot
