#include "ir/inference.h"

#include <set>

#include "ingot/error.h"
#include "ir/shape_values.h"

namespace ingot {

Inference::Inference(const Attrs& attrs, std::span<const GraphPtr> subgraphs, std::vector<Operand> operands,
                     size_t output_count, std::function<Dim(std::string_view)> fresh)
    : attrs_(attrs),
      subgraphs_(subgraphs),
      operands_(std::move(operands)),
      outputs_(output_count),
      fresh_(std::move(fresh)) {}

const Type& Inference::type(size_t i) const {
  if (!has(i)) fail(static_cast<int>(i), "an operand", "none");
  return *operands_[i].type;
}

const Dims& Inference::dims(size_t i) const {
  if (!is_ranked(i)) fail(static_cast<int>(i), "a known rank", to_string(type(i)));
  return *type(i).dims;
}

std::optional<std::vector<Dim>> Inference::values(size_t i) const {
  if (!has(i) || !operands_[i].values) return std::nullopt;
  return operands_[i].values();
}

std::optional<std::vector<int64_t>> Inference::constants(size_t i) const { return numbers(values(i)); }

std::optional<int64_t> Inference::value_count(size_t i) const {
  if (!has(i) || !is_ranked(i)) return std::nullopt;
  if (rank(i) > 1) fail(static_cast<int>(i), "rank 0 or 1", to_string(type(i)));
  if (rank(i) == 0) return 1;
  return dims(i)[0].value();
}

Type Inference::fresh_type(DType dtype, int64_t rank, std::string_view hint) const {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(fresh(hint));
  return Type::tensor(dtype, std::move(dims));
}

int64_t Inference::axis(int64_t axis, int64_t rank, std::string_view what) const {
  if (axis < -rank || axis >= rank)
    fail(-1, fmt::format("{} in [{}, {}]", what, -rank, rank - 1), fmt::format("{}", axis));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> Inference::axes(const std::vector<int64_t>& axes, int64_t rank) const {
  std::vector<int64_t> out;
  std::set<int64_t> seen;
  for (int64_t a : axes) {
    out.push_back(axis(a, rank, "axes"));
    if (!seen.insert(out.back()).second)
      fail(-1, "axes that differ", fmt::format("[{}]", fmt::join(axes, ", ")));
  }
  return out;
}

void Inference::require_same_dtype(size_t a, size_t b) const {
  if (dtype(a) != dtype(b))
    fail(static_cast<int>(b), std::string(to_string(dtype(a))), std::string(to_string(dtype(b))),
         "Operands never convert silently: insert a cast.");
}

void Inference::fail(int operand, std::string expected, std::string observed, std::string remedy) const {
  std::string where;
  const auto& table = info().operands;
  if (operand >= 0 && !table.empty()) {
    size_t i = std::min(static_cast<size_t>(operand), table.size() - 1);
    where = fmt::format(", operand {} ({})", operand, table[i].name);
  }
  throw Error({.code = ErrorCode::invalid_argument,
               .object = fmt::format("op {}{}", info().name, where),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = std::move(remedy)});
}

void Inference::check_operands() const {
  const auto& table = info().operands;
  bool variadic = !table.empty() && table.back().variadic;
  if (operands_.size() > table.size() && !variadic)
    fail(-1, fmt::format("at most {} operands", table.size()), fmt::format("{}", operands_.size()));
  for (size_t i = 0; i < std::max(operands_.size(), table.size()); ++i) {
    const OperandInfo& want = table[std::min(i, table.size() - 1)];
    if (!has(i)) {
      if (!want.optional && !want.variadic) fail(static_cast<int>(i), "an operand", "none");
      continue;
    }
    if (want.kind == OperandInfo::Kind::any) continue;
    bool sequence = type(i).kind == Type::Kind::sequence;
    if (sequence != (want.kind == OperandInfo::Kind::sequence) || (!sequence && !type(i).is_tensor()))
      fail(static_cast<int>(i), want.kind == OperandInfo::Kind::sequence ? "a sequence" : "a tensor",
           to_string(type(i)));
    if (!sequence && (want.types & bit(dtype(i))) == 0)
      fail(static_cast<int>(i), "one of the element types the op table allows",
           std::string(to_string(dtype(i))));
  }
}

std::vector<Type> Inference::run() {
  check_operands();
  info().infer(*this);
  std::vector<Type> out;
  for (auto& type : outputs_) {
    if (!type)
      throw Error({.code = ErrorCode::internal,
                   .object = "op",
                   .name = std::string(info().name),
                   .expected = "a type for every output",
                   .observed = "none"});
    out.push_back(std::move(*type));
  }
  return out;
}

std::optional<Dim> broadcast(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.is_constant() && b.is_constant()) return std::nullopt;
  if (a == Dim(0) || b == Dim(0)) return Dim(0);
  // A size above one decides; the other is then one or equal, which is checked at run time.
  if (a.low() > 1) return a;
  if (b.low() > 1) return b;
  return max(a, b);
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    auto d = broadcast(longer[offset + i], shorter[i]);
    if (!d) return std::nullopt;
    out[offset + i] = *d;
  }
  return out;
}

}  // namespace ingot
