#include "ir/rule_helpers.h"

namespace ingot::rules {

Dim product(const Dims& dims, size_t first) {
  Dim out = 1;
  for (size_t i = first; i < dims.size(); ++i) out = out * dims[i];
  return out;
}

void require_one_element(const Inference& c, size_t i) {
  if (!c.has(i) || !c.is_ranked(i)) return;
  for (const Dim& d : c.dims(i))
    if (d.is_constant() && d.constant() != 1)
      c.fail(static_cast<int>(i), "one element", to_string(c.type(i)));
}

void require_rank(const Inference& c, size_t i, int64_t rank) {
  if (c.has(i) && c.is_ranked(i) && c.rank(i) != rank)
    c.fail(static_cast<int>(i), fmt::format("rank {}", rank), to_string(c.dims(i)));
}

}  // namespace ingot::rules
