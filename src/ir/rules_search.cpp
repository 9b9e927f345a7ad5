#include "ir/rules.h"

namespace ingot::rules {
namespace {

void require_one(const Inference& c, int operand) {
  if (auto n = c.value_count(static_cast<size_t>(operand)); n && *n != 1)
    c.fail(operand, "one value", fmt::format("{}", *n));
}

void require_shape(const Inference& c, int operand, size_t rank, size_t axis, int64_t size) {
  auto i = static_cast<size_t>(operand);
  if (!c.is_ranked(i)) return;
  if (c.dims(i).size() != rank) c.fail(operand, fmt::format("rank {}", rank), to_string(c.dims(i)));
  if (size >= 0 && c.dims(i)[axis].value().value_or(size) != size)
    c.fail(operand, fmt::format("size {} along axis {}", size, axis), to_string(c.dims(i)));
}

}  // namespace

// The values in order, and where along the axis each was.
void top_k_type(Inference& c) {
  require_one(c, 1);
  Type values = c.type(0), places = c.type(0);
  if (c.is_ranked(0)) {
    auto axis = static_cast<size_t>(c.axis(c.attrs<TopKAttrs>().axis, c.rank(0)));
    auto known = c.values(1);
    Dim k = known ? known->at(0) : c.fresh("k");
    const Dim& size = c.dims(0)[axis];
    if (k.high() < 0 || k.low() > size.high())
      c.fail(1, fmt::format("between 0 and {}", size.to_string()), k.to_string());
    (*values.dims)[axis] = k;
    (*places.dims)[axis] = k;
  }
  places.dtype = DType::i64;
  c.set(0, std::move(values));
  c.set(1, std::move(places));
}

// One column for each element that is not zero, one row for each axis.
void non_zero_type(Inference& c) {
  Dim rows = c.is_ranked(0) ? Dim(c.rank(0)) : c.fresh("rank");
  c.set(0, DType::i64, {rows, c.fresh("nonzero")});
}

// The distinct elements (or slices along an axis), where each first is, which of them each element is, and
// how many of each there are.
void unique_type(Inference& c) {
  const auto& a = c.attrs<UniqueAttrs>();
  Dim count = c.fresh("unique"), all = c.fresh("elements");
  Type values = c.type(0);
  if (a.flat) {
    values.dims = Dims{count};
    if (c.is_ranked(0)) {
      all = 1;
      for (const Dim& d : c.dims(0)) all = all * d;
    }
  } else if (c.is_ranked(0)) {
    Dim& along = (*values.dims)[static_cast<size_t>(c.axis(a.axis, c.rank(0)))];
    all = along;
    along = count;
  }
  c.set(0, std::move(values));
  c.set(1, DType::i64, {count});
  c.set(2, DType::i64, {all});
  c.set(3, DType::i64, {count});
}

void lookup_type(Inference& c) {
  c.require_same_dtype(0, 1);
  c.require_same_dtype(2, 3);
  require_one(c, 3);
  auto keys = c.value_count(1), values = c.value_count(2);
  if (keys && values && *keys != *values)
    c.fail(2, fmt::format("{} values", *keys), fmt::format("{}", *values));
  Type type = c.type(0);
  type.dtype = c.dtype(2);
  c.set(0, std::move(type));
}

// Rows of batch, class and box.
void non_max_suppression_type(Inference& c) {
  require_shape(c, 0, 3, 2, 4);
  require_shape(c, 1, 3, 0, -1);
  if (c.is_ranked(0) && c.is_ranked(1)) {
    require_shape(c, 1, 3, 0, c.dims(0)[0].value().value_or(-1));
    require_shape(c, 1, 3, 2, c.dims(0)[1].value().value_or(-1));
  }
  for (int i = 2; i <= 4; ++i) require_one(c, i);
  c.set(0, DType::i64, {c.fresh("selected"), 3});
}

}  // namespace ingot::rules
