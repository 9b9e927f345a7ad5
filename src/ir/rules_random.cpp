#include "ir/rules.h"

namespace ingot::rules {
namespace {

void require_type(const Inference& c, DType dtype, TypeSet allowed) {
  if ((allowed & bit(dtype)) == 0)
    c.fail(-1, "an element type that the op can draw", std::string(to_string(dtype)));
}

// A tensor of the shape that operand 0 holds.
void drawn(Inference& c, DType dtype) {
  require_type(c, dtype, types::Real);
  auto sizes = c.values(0);
  if (!sizes) {
    auto rank = c.value_count(0);
    return c.set(0, rank ? c.fresh_type(dtype, *rank, "random") : Type::unranked(dtype));
  }
  for (const Dim& d : *sizes)
    if (d.high() < 0) c.fail(0, "sizes of 0 or more", to_string(*sizes));
  c.set(0, dtype, *sizes);
}

}  // namespace

void random_uniform_type(Inference& c) { drawn(c, c.attrs<RandomUniformAttrs>().dtype); }

void random_normal_type(Inference& c) { drawn(c, c.attrs<RandomNormalAttrs>().dtype); }

// Rows of log-probabilities give rows of classes.
void multinomial_type(Inference& c) {
  const auto& a = c.attrs<MultinomialAttrs>();
  require_type(c, a.dtype, types::Index);
  if (a.sample_size < 0) c.fail(-1, "a sample_size of 0 or more", fmt::format("{}", a.sample_size));
  if (c.is_ranked(0) && c.rank(0) != 2) c.fail(0, "rank 2", to_string(c.dims(0)));
  c.set(0, a.dtype, {c.is_ranked(0) ? c.dims(0)[0] : c.fresh("batch"), a.sample_size});
}

}  // namespace ingot::rules
