#include "ir/rules.h"

namespace ingot::rules {

// Pieces, as many for every text as the one with most has, and how many each has.
void string_split_type(Inference& c) {
  Type counts = c.type(0), pieces = c.type(0);
  counts.dtype = DType::i64;
  if (pieces.dims) pieces.dims->push_back(c.fresh("pieces"));
  c.set(0, std::move(pieces));
  c.set(1, std::move(counts));
}

// [n] or [1, n], without the stop words.
void string_normalize_type(Inference& c) {
  if (!c.is_ranked(0)) return c.set(0, c.type(0));
  Dims dims = c.dims(0);
  bool row = dims.size() == 2 && (!dims[0].is_constant() || dims[0].constant() == 1);
  if (dims.size() != 1 && !row) c.fail(0, "shape [n] or [1, n]", to_string(c.type(0)));
  dims.back() = c.fresh("kept");
  c.set(0, DType::string, std::move(dims));
}

// [n] -> [features], [batch, n] -> [batch, features]
void tf_idf_type(Inference& c) {
  const auto& a = c.attrs<TfIdfAttrs>();
  int64_t last = -1;
  for (int64_t i : a.gram_indexes) {
    if (i < 0 || i > (int64_t{1} << 24)) c.fail(-1, "feature numbers in [0, 2^24]", fmt::format("{}", i));
    last = std::max(last, i);
  }
  if (!c.is_ranked(0)) return c.set(0, Type::unranked(DType::f32));
  if (c.rank(0) > 2) c.fail(0, "rank of at most 2", to_string(c.type(0)));
  Dims dims = c.rank(0) == 2 ? Dims{c.dims(0)[0]} : Dims{};
  dims.emplace_back(last + 1);
  c.set(0, DType::f32, std::move(dims));
}

}  // namespace ingot::rules
