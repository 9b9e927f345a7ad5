// Symbolic dimensions as polynomials: construction, sums and products in canonical order, comparison.
#include "ingot/dim.h"

#include <limits>

#include "base/checked.h"
#include "ingot/error.h"
#include "ir/dim_internal.h"

namespace ingot {
namespace {

int compare_factors(const DimTerm& a, const DimTerm& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size() ? -1 : 1;
  for (size_t i = 0; i < a.factors.size(); ++i) {
    if (int order = compare(*a.factors[i], *b.factors[i])) return order;
  }
  return 0;
}

bool atom_before(const DimAtomPtr& a, const DimAtomPtr& b) { return compare(*a, *b) < 0; }

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

// Terms in any order, some with equal factors, into canonical order. False when a coefficient overflows.
bool collect(std::vector<DimTerm>& terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const DimTerm& a, const DimTerm& b) { return compare_factors(a, b) < 0; });
  size_t kept = 0;
  for (DimTerm& term : terms) {
    if (kept > 0 && compare_factors(terms[kept - 1], term) == 0) {
      const auto sum = try_add(terms[kept - 1].coefficient, term.coefficient);
      if (!sum) return false;
      terms[kept - 1].coefficient = *sum;
    } else {
      if (kept > 0 && terms[kept - 1].coefficient == 0) --kept;
      if (&terms[kept] != &term) terms[kept] = std::move(term);
      ++kept;
    }
  }
  if (kept > 0 && terms[kept - 1].coefficient == 0) --kept;
  terms.resize(kept);
  return true;
}

std::optional<DimTerm> multiply_terms(const DimTerm& a, const DimTerm& b) {
  const auto coefficient = try_mul(a.coefficient, b.coefficient);
  if (!coefficient) return std::nullopt;
  DimTerm product{*coefficient, {}};
  product.factors.resize(a.factors.size() + b.factors.size());
  std::merge(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(), product.factors.begin(),
             atom_before);
  return product;
}

// The terms, and the addend as a term without factors.
std::vector<DimTerm> all_terms(const Dim& dim) {
  std::vector<DimTerm> terms = DimAccess::terms(dim);
  if (DimAccess::addend(dim) != 0) terms.push_back({DimAccess::addend(dim), {}});
  return terms;
}

// What collect() made of terms of which one may have no factors: it sorts last.
Dim from_all_terms(std::vector<DimTerm> terms) {
  int64_t addend = 0;
  if (!terms.empty() && terms.back().factors.empty()) {
    addend = terms.back().coefficient;
    terms.pop_back();
  }
  return DimAccess::make(addend, std::move(terms));
}

std::string spelled(const Dim& a, const char* operation, const Dim& b) {
  return "(" + a.to_string() + ")" + operation + "(" + b.to_string() + ")";
}

}  // namespace

void throw_dim_overflow(const std::string& expression) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "dimension expression",
               .name = expression,
               .expected = "coefficients and constants within 64 bits",
               .observed = "an overflow"});
}

size_t mix_hash(size_t seed, size_t value) {
  return (seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2))) * 0xff51afd7ed558ccd;
}

const std::vector<DimTerm>& DimAccess::terms(const Dim& dim) {
  static const std::vector<DimTerm> kNone;
  return dim.sum_ ? dim.sum_->terms : kNone;
}

Dim DimAccess::make(int64_t addend, std::vector<DimTerm> terms) {
  Dim dim(addend);
  if (terms.empty()) return dim;
  auto sum = std::make_shared<DimSum>();
  for (const DimTerm& term : terms) {
    DimRange range{term.coefficient, term.coefficient};
    sum->nodes += 1;
    sum->hash = mix_hash(sum->hash, static_cast<size_t>(term.coefficient));
    for (const DimAtomPtr& factor : term.factors) {
      range = multiply_ranges(range, factor->range);
      sum->nodes += factor->nodes;
      sum->hash = mix_hash(sum->hash, factor->hash);
    }
    sum->range = add_ranges(sum->range, range);
  }
  if (sum->nodes > Dim::kMaxNodes) {
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = "dimension expression",
                 .expected = "at most " + std::to_string(Dim::kMaxNodes) + " symbols, products and calls",
                 .observed = std::to_string(sum->nodes),
                 .remedy = "Give some of the dimensions a fixed size"});
  }
  sum->terms = std::move(terms);
  dim.sum_ = std::move(sum);
  return dim;
}

const DimAtom* DimAccess::lone_atom(const Dim& dim) {
  const auto& all = terms(dim);
  if (all.size() != 1 || all[0].coefficient != 1 || all[0].factors.size() != 1) return nullptr;
  return all[0].factors[0].get();
}

int compare(const DimAtom& a, const DimAtom& b) {
  if (&a == &b) return 0;
  if (int order = three_way(a.kind, b.kind)) return order;
  if (a.kind == DimKind::symbol) return a.name.compare(b.name);
  if (int order = three_way(a.operands.size(), b.operands.size())) return order;
  for (size_t i = 0; i < a.operands.size(); ++i) {
    if (int order = compare(a.operands[i], b.operands[i])) return order;
  }
  return 0;
}

int compare(const Dim& a, const Dim& b) {
  const auto& left = DimAccess::terms(a);
  const auto& right = DimAccess::terms(b);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (int order = compare_factors(left[i], right[i])) return order;
    if (int order = three_way(left[i].coefficient, right[i].coefficient)) return order;
  }
  if (left.size() != right.size()) return left.size() > right.size() ? -1 : 1;  // constants last
  return three_way(DimAccess::addend(a), DimAccess::addend(b));
}

Dim Dim::symbol(std::string_view name, int64_t low, int64_t high) {
  if (name.empty() || low > high) {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "dimension",
                 .name = std::string(name),
                 .expected = "a name and a range whose low end is not above its high end",
                 .observed = std::to_string(low) + " to " + std::to_string(high)});
  }
  auto atom = std::make_shared<DimAtom>();
  atom->name = name;
  atom->range = {low, high};
  atom->hash = std::hash<std::string_view>{}(name);
  return DimAccess::from_atom(std::move(atom));
}

int64_t Dim::constant() const {
  if (is_constant()) return value_;
  throw Error({.code = ErrorCode::internal,
               .object = "dimension",
               .name = to_string(),
               .expected = "a constant",
               .observed = "an expression"});
}

std::optional<int64_t> Dim::value() const { return is_constant() ? std::optional(value_) : std::nullopt; }

int64_t Dim::low() const { return is_constant() ? value_ : add_ranges(sum_->range, {value_, value_}).low; }
int64_t Dim::high() const { return is_constant() ? value_ : add_ranges(sum_->range, {value_, value_}).high; }

std::optional<std::string_view> Dim::symbol_name() const {
  const DimAtom* atom = value_ == 0 ? DimAccess::lone_atom(*this) : nullptr;
  if (atom == nullptr || atom->kind != DimKind::symbol) return std::nullopt;
  return atom->name;
}

size_t Dim::hash() const { return mix_hash(DimAccess::hash_of_terms(*this), static_cast<size_t>(value_)); }

Dim Dim::add(const Dim& a, const Dim& b) {
  const auto addend = try_add(a.value_, b.value_);
  if (addend && (a.is_constant() || b.is_constant())) {
    Dim sum = a.is_constant() ? b : a;  // shares the terms
    sum.value_ = *addend;
    return sum;
  }
  std::vector<DimTerm> terms = DimAccess::terms(a);
  terms.insert(terms.end(), DimAccess::terms(b).begin(), DimAccess::terms(b).end());
  if (!addend || !collect(terms)) throw_dim_overflow(spelled(a, " + ", b));
  return DimAccess::make(*addend, std::move(terms));
}

Dim Dim::subtract(const Dim& a, const Dim& b) {
  const auto addend = try_sub(a.value_, b.value_);
  std::vector<DimTerm> terms = DimAccess::terms(b);
  bool fits = addend.has_value();
  for (DimTerm& term : terms) {
    const auto negated = try_sub<int64_t>(0, term.coefficient);
    fits = fits && negated;
    term.coefficient = negated.value_or(0);
  }
  terms.insert(terms.end(), DimAccess::terms(a).begin(), DimAccess::terms(a).end());
  if (!fits || !collect(terms)) throw_dim_overflow(spelled(a, " - ", b));
  return DimAccess::make(*addend, std::move(terms));
}

Dim Dim::multiply(const Dim& a, const Dim& b) {
  std::vector<DimTerm> products;
  for (const DimTerm& left : all_terms(a)) {
    for (const DimTerm& right : all_terms(b)) {
      auto product = multiply_terms(left, right);
      if (!product) throw_dim_overflow(spelled(a, "*", b));
      products.push_back(std::move(*product));
    }
  }
  if (!collect(products)) throw_dim_overflow(spelled(a, "*", b));
  return from_all_terms(std::move(products));
}

bool Dim::equal(const Dim& a, const Dim& b) {
  if (a.value_ != b.value_) return false;
  if (a.sum_ == b.sum_) return true;
  return DimAccess::hash_of_terms(a) == DimAccess::hash_of_terms(b) && compare(a, b) == 0;
}

Dim Dim::substitute(const std::function<std::optional<Dim>(std::string_view name)>& binding) const {
  const auto replace = [&binding](const DimAtomPtr& atom) {
    if (atom->kind == DimKind::symbol) {
      return binding(atom->name).value_or(DimAccess::from_atom(atom));
    }
    std::vector<Dim> operands;
    for (const Dim& operand : atom->operands) operands.push_back(operand.substitute(binding));
    return call(atom->kind, operands);
  };
  Dim sum = value_;
  for (const DimTerm& term : DimAccess::terms(*this)) {
    std::vector<Dim> factors;
    for (const DimAtomPtr& factor : term.factors) factors.push_back(replace(factor));
    // A zero first, so that the other factors cannot overflow.
    if (std::find(factors.begin(), factors.end(), Dim(0)) != factors.end()) continue;
    Dim product = term.coefficient;
    for (const Dim& factor : factors) product = product * factor;
    sum = sum + product;
  }
  return sum;
}

void Dim::visit_symbols(
    const std::function<void(std::string_view name, int64_t low, int64_t high)>& visit) const {
  for (const DimTerm& term : DimAccess::terms(*this)) {
    for (const DimAtomPtr& factor : term.factors) {
      if (factor->kind == DimKind::symbol) visit(factor->name, factor->range.low, factor->range.high);
      for (const Dim& operand : factor->operands) operand.visit_symbols(visit);
    }
  }
}

}  // namespace ingot
