#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingot/dim.h"

// The parts of a symbolic dimension: a sum of terms, each a coefficient times a product of atoms.
namespace ingot {

// Closed range. The ends of int64_t also mean "no bound" and stay so in arithmetic.
struct DimRange {
  int64_t low = 0;
  int64_t high = 0;
};

// The order of the kinds is the order in which they are printed.
enum class DimKind : uint8_t { symbol, floordiv, mod, min, max };

struct DimAtom {
  DimKind kind = DimKind::symbol;
  std::string name;           // of a symbol
  std::vector<Dim> operands;  // of the others: two, or two and more for min and max, in canonical order
  DimRange range;
  size_t nodes = 1;
  size_t hash = 0;
};
using DimAtomPtr = std::shared_ptr<const DimAtom>;

struct DimTerm {
  int64_t coefficient = 1;          // never 0
  std::vector<DimAtomPtr> factors;  // at least one, sorted; a power is repeated
};

struct DimSum {
  std::vector<DimTerm> terms;  // at least one, highest degree first, no two with the same factors
  DimRange range;              // of the terms together
  size_t nodes = 0;
  size_t hash = 0;
};

struct DimAccess {
  static int64_t addend(const Dim& dim) { return dim.value_; }
  static const std::vector<DimTerm>& terms(const Dim& dim);
  static size_t nodes(const Dim& dim) { return dim.sum_ ? dim.sum_->nodes : 1; }
  static size_t hash_of_terms(const Dim& dim) { return dim.sum_ ? dim.sum_->hash : 0; }
  // From terms in order. Throws Error(out_of_memory) above kMaxNodes.
  static Dim make(int64_t addend, std::vector<DimTerm> terms);
  static Dim from_atom(DimAtomPtr atom) { return make(0, {{1, {std::move(atom)}}}); }
  // The atom when `dim` is `atom + addend`; null otherwise.
  static const DimAtom* lone_atom(const Dim& dim);
};

DimRange range_of(const Dim& dim);
DimRange add_ranges(DimRange a, DimRange b);
DimRange multiply_ranges(DimRange a, DimRange b);
DimRange range_of_call(DimKind kind, const std::vector<Dim>& operands);

// A total order of canonical forms: negative, 0 or positive.
int compare(const DimAtom& a, const DimAtom& b);
int compare(const Dim& a, const Dim& b);

// `kind` applied to two or more operands, simplified.
Dim call(DimKind kind, const std::vector<Dim>& operands);
std::string_view name_of(DimKind kind);

size_t mix_hash(size_t seed, size_t value);

int64_t floor_quotient(int64_t a, int64_t b);   // b is not 0; not INT64_MIN by -1
int64_t floor_remainder(int64_t a, int64_t b);  // b is not 0

[[noreturn]] void throw_dim_overflow(const std::string& expression);

}  // namespace ingot
