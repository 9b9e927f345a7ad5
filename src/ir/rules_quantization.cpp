#include "ir/rules.h"

namespace ingot::rules {
namespace {

void require_size(const Inference& c, size_t operand, const Dim& wanted, const Dim& size) {
  if (wanted.is_constant() && size.is_constant() && wanted != size)
    c.fail(static_cast<int>(operand), fmt::format("a size of {}", wanted.constant()),
           to_string(c.dims(operand)));
}

// Scales and zero points: one of the tensor, one per slice along `axis`, or one per block of slices along it.
void check_granularity(const Inference& c, size_t operand, int64_t axis, int64_t block) {
  if (block < 0) c.fail(-1, "block_size of 0 or more", fmt::format("{}", block));
  if (!c.is_ranked(0) || !c.is_ranked(operand)) return;
  const Dims &x = c.dims(0), &scale = c.dims(operand);
  if (block == 0) {
    if (scale.empty() || (scale.size() == 1 && scale[0] == Dim(1))) return;
    if (scale.size() > 1) c.fail(static_cast<int>(operand), "a scalar or a vector", to_string(scale));
    return require_size(c, operand, x[static_cast<size_t>(c.axis(axis, c.rank(0)))], scale[0]);
  }
  if (scale.size() != x.size())
    c.fail(static_cast<int>(operand), fmt::format("rank {} beside a block_size", x.size()), to_string(scale));
  auto blocked = static_cast<size_t>(c.axis(axis, c.rank(0)));
  for (size_t i = 0; i < x.size(); ++i)
    require_size(c, operand, i == blocked ? ceildiv(x[i], block) : x[i], scale[i]);
}

void check_type(const Inference& c, DType to, TypeSet allowed) {
  if ((allowed & bit(to)) == 0)
    c.fail(-1, "an element type that the op can give", std::string(to_string(to)));
}

}  // namespace

void quantize_type(Inference& c) {
  const auto& a = c.attrs<QuantizeAttrs>();
  check_type(c, a.to, types::Quantized);
  check_type(c, a.precision, types::Floating);
  if (c.has(2) && c.dtype(2) != a.to)
    c.fail(2, std::string(to_string(a.to)), std::string(to_string(c.dtype(2))));
  for (size_t i = 1; i < c.operand_count(); ++i) check_granularity(c, i, a.axis, a.block_size);
  Type type = c.type(0);
  type.dtype = a.to;
  c.set(0, std::move(type));
}

void dequantize_type(Inference& c) {
  const auto& a = c.attrs<DequantizeAttrs>();
  check_type(c, a.to, types::Floating);
  if (c.has(2)) c.require_same_dtype(0, 2);
  for (size_t i = 1; i < c.operand_count(); ++i) check_granularity(c, i, a.axis, a.block_size);
  Type type = c.type(0);
  type.dtype = a.to;
  c.set(0, std::move(type));
}

void dynamic_quantize_type(Inference& c) {
  Type type = c.type(0);
  type.dtype = DType::u8;
  c.set(0, std::move(type));
  c.set(1, c.dtype(0), {});
  c.set(2, DType::u8, {});
}

}  // namespace ingot::rules
