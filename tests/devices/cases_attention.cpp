// Attention and what surrounds it.
#include <cmath>

#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

struct Form {
  const char* name;
  int64_t heads, key_heads, queries, keys, size, past = 0;
  int mask = 0;  // 1: added, 2: boolean, 3: boolean with a row that sees nothing
  bool causal = false, lengths = false, scores = false;
  double softcap = 0;
  int64_t window = -1;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {.name = "plain", .heads = 3, .key_heads = 3, .queries = 9, .keys = 9, .size = 16},
      {.name = "ragged", .heads = 2, .key_heads = 2, .queries = 13, .keys = 37, .size = 24},
      {.name = "grouped", .heads = 8, .key_heads = 2, .queries = 7, .keys = 7, .size = 32},
      {.name = "causal", .heads = 2, .key_heads = 2, .queries = 21, .keys = 21, .size = 16, .causal = true},
      {.name = "step",
       .heads = 4,
       .key_heads = 2,
       .queries = 1,
       .keys = 1,
       .size = 32,
       .past = 19,
       .causal = true},
      {.name = "prompt",
       .heads = 4,
       .key_heads = 4,
       .queries = 5,
       .keys = 5,
       .size = 8,
       .past = 3,
       .causal = true},
      {.name = "mask", .heads = 2, .key_heads = 2, .queries = 9, .keys = 17, .size = 16, .mask = 1},
      {.name = "boolean", .heads = 2, .key_heads = 2, .queries = 9, .keys = 17, .size = 16, .mask = 2},
      {.name = "window",
       .heads = 2,
       .key_heads = 2,
       .queries = 19,
       .keys = 19,
       .size = 16,
       .causal = true,
       .window = 4},
      {.name = "softcap", .heads = 2, .key_heads = 2, .queries = 9, .keys = 9, .size = 16, .softcap = 3},
      {.name = "lengths", .heads = 2, .key_heads = 2, .queries = 6, .keys = 12, .size = 16, .lengths = true},
      {.name = "scores", .heads = 2, .key_heads = 2, .queries = 6, .keys = 12, .size = 16, .scores = true},
      {.name = "long", .heads = 1, .key_heads = 1, .queries = 65, .keys = 131, .size = 64},
      {.name = "closed row", .heads = 2, .key_heads = 1, .queries = 5, .keys = 17, .size = 16, .mask = 3},
      // More than one block of queries and of keys.
      {.name = "blocks", .heads = 2, .key_heads = 1, .queries = 150, .keys = 1100, .size = 8, .mask = 1},
      {.name = "blocks with closed row",
       .heads = 1,
       .key_heads = 1,
       .queries = 3,
       .keys = 600,
       .size = 8,
       .mask = 3},
      {.name = "blocks of a window",
       .heads = 1,
       .key_heads = 1,
       .queries = 700,
       .keys = 700,
       .size = 8,
       .causal = true,
       .window = 90},
      // One query, whose keys several threads share.
      {.name = "long step",
       .heads = 4,
       .key_heads = 2,
       .queries = 1,
       .keys = 1,
       .size = 8,
       .past = 1300,
       .causal = true},
      {.name = "long memory", .heads = 4, .key_heads = 2, .queries = 1, .keys = 1300, .size = 8, .mask = 1},
  };
  return all;
}

std::vector<Value> attention(GraphMaker& m, DType dtype, const Form& f) {
  const int64_t batch = 2, all = f.keys + f.past;
  const Value q = m.tensor(dtype, {batch, f.heads, f.queries, f.size});
  const Value k = m.tensor(dtype, {batch, f.key_heads, f.keys, f.size});
  const Value v = m.tensor(dtype, {batch, f.key_heads, f.keys, f.size + 8});
  Value mask, past_key, past_value, lengths;
  if (f.mask == 1) mask = m.tensor(dtype, {batch, 1, f.queries, all}, {-3, 3});
  if (f.mask == 2) mask = m.tensor(DType::boolean, {f.queries, all});
  if (f.mask == 3) {
    Tensor open = random_tensor(m.random, DType::boolean, {f.queries, all}, {0, 1});
    std::ranges::fill(open.mutable_bytes().first(static_cast<size_t>(all)), std::byte{0});
    mask = m.input(open);
  }
  if (f.past > 0) {
    past_key = m.tensor(dtype, {batch, f.key_heads, f.past, f.size});
    past_value = m.tensor(dtype, {batch, f.key_heads, f.past, f.size + 8});
  }
  if (f.lengths) lengths = m.input(Tensor::of<int64_t>({batch}, {7, 12}));
  const auto parts = m.g.attention(q, k, v, mask, past_key, past_value, lengths,
                                   {.softcap = f.softcap, .causal = f.causal, .window = f.window});
  std::vector<Value> results = {parts[0]};
  if (f.past > 0) results.insert(results.end(), {parts[1], parts[2]});
  if (f.scores) results.push_back(parts[3]);
  return results;
}

void add_attention(Table& table) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
    for (const Form& f : forms()) {
      auto build = [=](GraphMaker& m) { return attention(m, dtype, f); };
      table.push_back(
          {fmt::format("attention {} {}", to_string(dtype), f.name), build, Closeness::composed,
           dtype == DType::f32 ? plain_and_two_more(table.size()) : plain_and_one_more(table.size())});
    }
}

void add_rotary(Table& table) {
  for (DType dtype : {DType::f32, DType::f16})
    for (bool interleaved : {false, true})
      for (bool positions : {false, true}) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.tensor(dtype, {2, 3, 7, 16});
          const Shape table_shape = positions ? Shape{20, 8} : Shape{2, 7, 8};
          const Value cos = m.tensor(dtype, table_shape, {-1, 1}),
                      sin = m.tensor(dtype, table_shape, {-1, 1});
          const Value at =
              positions ? m.input(random_tensor(m.random, DType::i64, {2, 7}, {0, 19})) : Value();
          return std::vector<Value>{m.g.rotary_embedding(x, cos, sin, at, {.interleaved = interleaved})};
        };
        table.push_back({fmt::format("rotary_embedding {}{}{}", to_string(dtype),
                                     interleaved ? " interleaved" : "", positions ? " positions" : ""),
                         build, Closeness::composed, plain_and_two_more(table.size())});
      }
}

void add_linear_attention(Table& table) {
  using Rule = LinearAttentionRule;
  for (Rule rule : {Rule::linear, Rule::gated, Rule::delta, Rule::gated_delta}) {
    auto build = [=](GraphMaker& m) {
      const Shape keys = {2, 3, 5, 8};
      const Value q = m.tensor(DType::f32, keys, {-1, 1}), k = m.tensor(DType::f32, keys, {-0.3, 0.3}),
                  v = m.tensor(DType::f32, {2, 3, 5, 6}), past = m.tensor(DType::f32, {2, 3, 8, 6});
      const bool gated = rule == Rule::gated || rule == Rule::gated_delta;
      const bool delta = rule == Rule::delta || rule == Rule::gated_delta;
      const Value decay = gated ? m.tensor(DType::f32, {2, 3, 5, 1}, {-1, 0}) : Value();
      const Value beta = delta ? m.tensor(DType::f32, {2, 3, 5, 1}, {0, 1}) : Value();
      const auto parts = m.g.linear_attention(q, k, v, past, decay, beta, {.update = rule});
      return std::vector<Value>(parts.begin(), parts.end());
    };
    table.push_back({fmt::format("linear_attention {}", enum_names<Rule>()[static_cast<size_t>(rule)]),
                     build,
                     Closeness::composed,
                     {Source::plain, Source::symbolic}});
  }
  for (bool swish : {false, true}) {
    auto build = [=](GraphMaker& m) {
      const Value x = m.tensor(DType::f32, {2, 6, 9}), w = m.tensor(DType::f32, {6, 1, 4}),
                  bias = m.tensor(DType::f32, {6}), past = m.tensor(DType::f32, {2, 6, 3});
      const auto parts = m.g.causal_conv(x, w, bias, past, {.swish = swish});
      return std::vector<Value>(parts.begin(), parts.end());
    };
    table.push_back({fmt::format("causal_conv{}", swish ? " swish" : ""),
                     build,
                     Closeness::composed,
                     {Source::plain, Source::constant, Source::transposed, Source::sliced}});
  }
}

}  // namespace

void add_attention_cases(Table& table) {
  add_attention(table);
  add_rotary(table);
  add_linear_attention(table);
}

}  // namespace ingot::devices
