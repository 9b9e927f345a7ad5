// Simplification of floordiv, mod, min and max, and what is proven about divisibility. An atom is made only
// where no rule applies, so that building the same call again gives the same atom.
#include <limits>
#include <numeric>

#include "base/checked.h"
#include "ingot/error.h"
#include "ir/dim_internal.h"

namespace ingot {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

Dim make_call(DimKind kind, std::vector<Dim> operands) {
  auto atom = std::make_shared<DimAtom>();
  atom->kind = kind;
  atom->range = range_of_call(kind, operands);
  if (atom->range.low == atom->range.high) return atom->range.low;
  atom->hash = static_cast<size_t>(kind);
  for (const Dim& operand : operands) {
    atom->nodes += DimAccess::nodes(operand);
    atom->hash = mix_hash(atom->hash, operand.hash());
  }
  atom->operands = std::move(operands);
  return DimAccess::from_atom(std::move(atom));
}

void check_divisor(std::string_view operation, const Dim& a, const Dim& b) {
  if (b.value() != 0) return;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "dimension expression",
               .name = std::string(operation) + "(" + a.to_string() + ", 0)",
               .expected = "a divisor other than 0",
               .observed = "0"});
}

// The operands of `dim` when it is a call of this kind.
const std::vector<Dim>* operands_of(DimKind kind, const Dim& dim) {
  const DimAtom* atom = DimAccess::addend(dim) == 0 ? DimAccess::lone_atom(dim) : nullptr;
  return atom != nullptr && atom->kind == kind ? &atom->operands : nullptr;
}

// Differences too large to write down prove nothing.
bool difference_proves_not_above(const Dim& a, const Dim& b) {
  if (a.high() <= b.low()) return true;
  try {
    return (b - a).low() >= 0;
  } catch (const Error&) {
    return false;
  }
}

// True when a <= b for all values of the symbols. A min is not above any of its operands, nor these above a
// max.
bool proven_not_above(const Dim& a, const Dim& b) {
  if (difference_proves_not_above(a, b)) return true;
  const auto* least = operands_of(DimKind::min, a);
  const auto* most = operands_of(DimKind::max, b);
  return (least &&
          std::ranges::any_of(*least, [&](const Dim& d) { return difference_proves_not_above(d, b); })) ||
         (most &&
          std::ranges::any_of(*most, [&](const Dim& d) { return difference_proves_not_above(a, d); }));
}

bool leads_negative(const Dim& dim) {
  const auto& terms = DimAccess::terms(dim);
  return !terms.empty() && terms.front().coefficient < 0;
}

DimTerm leading_term(const Dim& dim) {
  const auto& terms = DimAccess::terms(dim);
  return terms.empty() ? DimTerm{DimAccess::addend(dim), {}} : terms.front();
}

Dim from_term(DimTerm term) {
  if (term.factors.empty()) return term.coefficient;
  return DimAccess::make(0, {std::move(term)});
}

// a / b for terms when b's coefficient and factors are all in a.
std::optional<DimTerm> divide_terms(const DimTerm& a, const DimTerm& b) {
  if (b.coefficient == -1 && a.coefficient == kLowest) return std::nullopt;
  if (a.coefficient % b.coefficient != 0) return std::nullopt;
  DimTerm quotient{a.coefficient / b.coefficient, {}};
  size_t used = 0;
  for (const DimAtomPtr& factor : a.factors) {
    if (used < b.factors.size() && compare(*factor, *b.factors[used]) == 0) {
      ++used;
    } else {
      quotient.factors.push_back(factor);
    }
  }
  if (used < b.factors.size()) return std::nullopt;
  return quotient;
}

// Polynomial long division by an expression that is not constant; nothing when a rest remains. One that grows
// past the limits is given up as not exact.
std::optional<Dim> exact_quotient(const Dim& a, const Dim& b) {
  constexpr int kMaxSteps = 32;
  const DimTerm divisor = leading_term(b);
  Dim rest = a;
  Dim quotient = 0;
  try {
    for (int step = 0; step < kMaxSteps && rest != Dim(0); ++step) {
      const auto term = divide_terms(leading_term(rest), divisor);
      if (!term) return std::nullopt;
      const Dim part = from_term(*term);
      quotient = quotient + part;
      rest = rest - part * b;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  if (rest == Dim(0)) return quotient;
  return std::nullopt;
}

int64_t common_divisor(const std::vector<DimTerm>& terms, int64_t divisor) {
  for (const DimTerm& term : terms) divisor = std::gcd(divisor, term.coefficient);
  return divisor;
}

// The terms whose coefficient is a multiple of `divisor`, divided by it, and the others.
struct Split {
  std::vector<DimTerm> quotient;
  std::vector<DimTerm> rest;
};

Split split_terms(const Dim& dim, int64_t divisor) {
  Split split;
  for (DimTerm term : DimAccess::terms(dim)) {
    if (term.coefficient % divisor == 0) {
      term.coefficient /= divisor;
      split.quotient.push_back(std::move(term));
    } else {
      split.rest.push_back(std::move(term));
    }
  }
  return split;
}

std::vector<DimTerm> divided(std::vector<DimTerm> terms, int64_t divisor) {
  for (DimTerm& term : terms) term.coefficient /= divisor;
  return terms;
}

// floordiv of terms that are no multiples of the constant b, plus 0 <= addend < b.
Dim floordiv_rest(std::vector<DimTerm> terms, int64_t addend, int64_t b) {
  if (const int64_t common = common_divisor(terms, b); common > 1) {
    return floordiv(DimAccess::make(addend / common, divided(std::move(terms), common)), b / common);
  }
  const Dim a = DimAccess::make(addend, std::move(terms));
  if (leads_negative(a)) return -floordiv(b - 1 - a, b);
  const DimAtom* inner = DimAccess::lone_atom(a);
  if (inner != nullptr && inner->kind == DimKind::floordiv) {
    const int64_t divisor = inner->operands[1].value().value_or(0);
    const auto product = try_mul(divisor, b);
    const auto scaled = try_mul(addend, divisor);
    if (divisor > 0 && product && scaled) return floordiv(inner->operands[0] + *scaled, *product);
  }
  return make_call(DimKind::floordiv, {a, b});
}

Dim floordiv_by_constant(const Dim& a, int64_t b) {
  if (b == 1) return a;
  if (b == kLowest)
    return a.is_constant() ? Dim(floor_quotient(a.constant(), b)) : make_call(DimKind::floordiv, {a, b});
  if (b < 0) return floordiv(-a, -b);
  Split split = split_terms(a, b);
  const int64_t addend = DimAccess::addend(a);
  Dim whole = DimAccess::make(floor_quotient(addend, b), std::move(split.quotient));
  if (split.rest.empty()) return whole;
  return whole + floordiv_rest(std::move(split.rest), floor_remainder(addend, b), b);
}

Dim mod_by_constant(const Dim& a, int64_t b) {
  if (b == 1 || b == -1) return 0;
  if (a.is_constant()) return floor_remainder(a.constant(), b);
  if (b == kLowest) return make_call(DimKind::mod, {a, b});
  if (b < 0) return -mod(-a, -b);
  if (a.low() >= 0 && a.high() < b) return a;
  std::vector<DimTerm> terms = split_terms(a, b).rest;
  for (DimTerm& term : terms) term.coefficient = floor_remainder(term.coefficient, b);
  const int64_t addend = floor_remainder(DimAccess::addend(a), b);
  if (terms.empty()) return addend;
  if (const int64_t common = common_divisor(terms, b); common > 1) {
    return common * mod(DimAccess::make(addend / common, divided(std::move(terms), common)), b / common) +
           addend % common;
  }
  Dim reduced = DimAccess::make(addend, std::move(terms));
  if (reduced.low() >= 0 && reduced.high() < b) return reduced;
  return make_call(DimKind::mod, {reduced, b});
}

// The operands of `dim` when it is a call of the same kind, else itself.
std::vector<Dim> parts_of(DimKind kind, const Dim& dim) {
  const std::vector<Dim>* operands = operands_of(kind, dim);
  return operands ? *operands : std::vector<Dim>{dim};
}

// Adds an operand of a min or max, unless proven not to matter, and drops those that no longer do. Of two
// that are proven equal the first in canonical order stays.
void add_operand(DimKind kind, const Dim& dim, std::vector<Dim>& kept) {
  const auto wins = [kind](const Dim& a, const Dim& b) {
    return kind == DimKind::min ? proven_not_above(a, b) : proven_not_above(b, a);
  };
  const auto beats = [&wins](const Dim& a, const Dim& b) {
    return wins(a, b) && (!wins(b, a) || compare(a, b) <= 0);
  };
  if (std::any_of(kept.begin(), kept.end(), [&](const Dim& other) { return beats(other, dim); })) return;
  std::erase_if(kept, [&](const Dim& other) { return beats(dim, other); });
  kept.push_back(dim);
}

Dim extremum(DimKind kind, const std::vector<Dim>& operands) {
  std::vector<Dim> kept = parts_of(kind, operands.front());
  for (size_t i = 1; i < operands.size(); ++i) {
    for (const Dim& part : parts_of(kind, operands[i])) add_operand(kind, part, kept);
  }
  if (kept.size() == 1) return kept.front();
  std::sort(kept.begin(), kept.end(), [](const Dim& a, const Dim& b) { return compare(a, b) < 0; });
  return make_call(kind, std::move(kept));
}

// A proven divisor of every value; 0 when the value is always 0.
int64_t known_divisor(const Dim& dim);

int64_t known_divisor(const DimAtom& atom) {
  if (atom.kind == DimKind::symbol || atom.kind == DimKind::floordiv) return 1;
  int64_t divisor = 0;
  for (const Dim& operand : atom.operands) divisor = std::gcd(divisor, known_divisor(operand));
  return divisor;
}

int64_t known_divisor(const Dim& dim) {
  const auto magnitude = [](int64_t value) { return value == kLowest ? int64_t{1} << 62 : std::abs(value); };
  int64_t divisor = magnitude(DimAccess::addend(dim));
  for (const DimTerm& term : DimAccess::terms(dim)) {
    int64_t product = magnitude(term.coefficient);
    for (const DimAtomPtr& factor : term.factors) {
      product = try_mul(product, known_divisor(*factor)).value_or(product);
    }
    divisor = std::gcd(divisor, product);
  }
  return divisor;
}

}  // namespace

Dim floordiv(const Dim& a, const Dim& b) {
  check_divisor("floordiv", a, b);
  if (b.is_constant()) return floordiv_by_constant(a, b.constant());
  if (a == Dim(0)) return 0;
  if (leads_negative(b)) return floordiv(-a, -b);
  if (auto quotient = exact_quotient(a, b)) return *quotient;
  if (a.low() >= 0 && proven_not_above(a + 1, b)) return 0;
  return make_call(DimKind::floordiv, {a, b});
}

Dim ceildiv(const Dim& a, const Dim& b) {
  check_divisor("ceildiv", a, b);
  return -floordiv(-a, b);
}

Dim mod(const Dim& a, const Dim& b) {
  check_divisor("mod", a, b);
  if (b.is_constant()) return mod_by_constant(a, b.constant());
  if (a == Dim(0)) return 0;
  if (leads_negative(b)) return -mod(-a, -b);
  if (exact_quotient(a, b)) return 0;
  if (a.low() >= 0 && proven_not_above(a + 1, b)) return a;
  return make_call(DimKind::mod, {a, b});
}

Dim min(const Dim& a, const Dim& b) { return extremum(DimKind::min, {a, b}); }
Dim max(const Dim& a, const Dim& b) { return extremum(DimKind::max, {a, b}); }

Dim call(DimKind kind, const std::vector<Dim>& operands) {
  if (kind == DimKind::floordiv) return floordiv(operands[0], operands[1]);
  if (kind == DimKind::mod) return mod(operands[0], operands[1]);
  return extremum(kind, operands);
}

bool Dim::divisible_by(int64_t n) const {
  const int64_t divisor = known_divisor(*this);
  if (n == 0) return divisor == 0;
  return floor_remainder(divisor, n) == 0;
}

}  // namespace ingot
