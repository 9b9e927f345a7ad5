#include "ir/recurrent.h"
#include "ir/rules.h"

// x [T, B, I], w [D, gates * H, I], r [D, gates * H, H], bias [D, 2 * gates * H], lengths [B], initial states
// [D, B, H]. Outputs: all states [T, D, B, H], then the last ones [D, B, H].
namespace ingot::rules {
namespace {

void require_dims(const Inference& c, size_t operand, const Dims& expected) {
  if (!c.has(operand) || !c.is_ranked(operand)) return;
  const Dims& d = c.dims(operand);
  bool fits = d.size() == expected.size();
  for (size_t i = 0; fits && i < d.size(); ++i)
    fits = !d[i].is_constant() || !expected[i].is_constant() || d[i] == expected[i];
  if (!fits) c.fail(static_cast<int>(operand), to_string(expected), to_string(d));
}

// `initial`: the first operand that is an initial state; those after it up to `end` are too.
template <class A>
void recurrent_type(Inference& c, int64_t gates, size_t activations, size_t initial, size_t end) {
  const auto& a = c.attrs<A>();
  size_t directions = direction_count(a.direction);
  if (a.activations.size() != activations * directions || a.alphas.size() != a.activations.size() ||
      a.betas.size() != a.activations.size())
    c.fail(-1, fmt::format("{} activations, each with alpha and beta", activations * directions),
           fmt::format("{}", a.activations.size()));
  for (const std::string& name : a.activations)
    if (std::ranges::find(kRecurrentActivations, name) == std::end(kRecurrentActivations))
      c.fail(-1, "an activation among " + fmt::format("{}", fmt::join(kRecurrentActivations, ", ")), name);
  for (size_t i : {size_t{1}, size_t{2}, size_t{3}}) {
    if (c.has(i)) c.require_same_dtype(0, i);
  }
  for (size_t i = initial; i < end; ++i)
    if (c.has(i)) c.require_same_dtype(0, i);
  if (!c.is_ranked(0) || !c.is_ranked(2)) {
    for (size_t i = 0; i < c.output_count(); ++i) c.set(i, Type::unranked(c.dtype(0)));
    return;
  }
  if (c.rank(0) != 3) c.fail(0, "[steps, batch, inputs]", to_string(c.dims(0)));
  if (c.rank(2) != 3) c.fail(2, "[directions, gates * hidden, hidden]", to_string(c.dims(2)));
  const Dims& x = c.dims(0);
  Dim d = static_cast<int64_t>(directions), hidden = c.dims(2)[2];
  require_dims(c, 1, {d, hidden * gates, x[2]});
  require_dims(c, 2, {d, hidden * gates, hidden});
  require_dims(c, 3, {d, hidden * (2 * gates)});
  require_dims(c, 4, {x[1]});
  for (size_t i = initial; i < end; ++i) require_dims(c, i, {d, x[1], hidden});
  c.set(0, c.dtype(0), {x[0], d, x[1], hidden});
  for (size_t i = 1; i < c.output_count(); ++i) c.set(i, c.dtype(0), {d, x[1], hidden});
}

}  // namespace

void rnn_type(Inference& c) { recurrent_type<RnnAttrs>(c, 1, 1, 5, 6); }
void gru_type(Inference& c) { recurrent_type<GruAttrs>(c, 3, 2, 5, 6); }

void lstm_type(Inference& c) {
  recurrent_type<LstmAttrs>(c, 4, 3, 5, 7);
  if (!c.has(7)) return;
  c.require_same_dtype(0, 7);
  Dim directions = static_cast<int64_t>(direction_count(c.attrs<LstmAttrs>().direction));
  if (c.is_ranked(2)) require_dims(c, 7, {directions, c.dims(2)[2] * 3});
}

}  // namespace ingot::rules
