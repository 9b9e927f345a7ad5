#include "ir/common_type.h"
#include "ir/rule_helpers.h"
#include "ir/rules.h"

namespace ingot::rules {
namespace {

Dim fresh(const Inference& c, const Dim&) { return c.fresh("element"); }

// Each element of a sequence has sizes of its own, so a symbol in the element type says nothing of one
// element.
Type of_one_element(const Inference& c, Type element) {
  if (element.dims)
    for (Dim& d : *element.dims)
      if (!d.is_constant()) d = fresh(c, d);
  return element;
}

Type common_element(const Inference& c, int operand, const Type& a, const Type& b) {
  auto merged = common_type(a, b, [&](const Dim& x, const Dim&) { return fresh(c, x); });
  if (!merged || !merged->is_tensor())
    c.fail(operand, fmt::format("{} like the other elements", to_string(a.element_dtype())), to_string(b));
  return *merged;
}

const Type& element_type(const Inference& c) {
  const Type& element = *c.type(0).inner;
  if (!element.is_tensor()) c.fail(0, "a sequence of tensors", to_string(c.type(0)));
  return element;
}

}  // namespace

void sequence_construct_type(Inference& c) {
  if (c.operand_count() == 0) c.fail(-1, "at least one operand", "none");
  Type element = c.type(0);
  for (size_t i = 1; i < c.operand_count(); ++i)
    element = common_element(c, static_cast<int>(i), element, c.type(i));
  c.set(0, Type::sequence(std::move(element)));
}

void sequence_empty_type(Inference& c) {
  c.set(0, Type::sequence(Type::unranked(c.attrs<SequenceEmptyAttrs>().element)));
}

void sequence_at_type(Inference& c) {
  require_one_element(c, 1);
  c.set(0, of_one_element(c, element_type(c)));
}

void sequence_insert_type(Inference& c) {
  require_one_element(c, 2);
  c.set(0, Type::sequence(common_element(c, 1, element_type(c), c.type(1))));
}

void sequence_erase_type(Inference& c) {
  require_one_element(c, 1);
  c.set(0, c.type(0));
}

void sequence_length_type(Inference& c) { c.set(0, DType::i64, {}); }

void split_to_sequence_type(Inference& c) {
  const auto& a = c.attrs<SplitToSequenceAttrs>();
  if (!c.is_ranked(0)) return c.set(0, Type::sequence(c.type(0)));
  Dims dims = c.dims(0);
  int64_t axis = c.axis(a.axis, c.rank(0));
  auto at = dims.begin() + axis;
  if (c.has(1))
    *at = c.fresh("split");
  else if (a.keep_axis)
    *at = 1;
  else
    dims.erase(at);
  c.set(0, Type::sequence(Type::tensor(c.dtype(0), std::move(dims))));
}

void concat_from_sequence_type(Inference& c) {
  const auto& a = c.attrs<ConcatFromSequenceAttrs>();
  Type element = of_one_element(c, element_type(c));
  if (!element.dims) return c.set(0, std::move(element));
  auto rank = static_cast<int64_t>(element.dims->size());
  if (a.new_axis) {
    element.dims->insert(element.dims->begin() + c.axis(a.axis, rank + 1), c.fresh("length"));
  } else {
    (*element.dims)[static_cast<size_t>(c.axis(a.axis, rank))] = c.fresh("concat");
  }
  c.set(0, std::move(element));
}

void optional_of_type(Inference& c) {
  c.set(0, c.type(0).kind == Type::Kind::optional ? c.type(0) : Type::optional(c.type(0)));
}

void optional_empty_type(Inference& c) {
  const auto& a = c.attrs<OptionalEmptyAttrs>();
  Type element = Type::unranked(a.element);
  c.set(0, Type::optional(a.sequence ? Type::sequence(std::move(element)) : std::move(element)));
}

void optional_get_type(Inference& c) {
  c.set(0, c.type(0).kind == Type::Kind::optional ? *c.type(0).inner : c.type(0));
}

void optional_has_type(Inference& c) { c.set(0, DType::boolean, {}); }

}  // namespace ingot::rules
