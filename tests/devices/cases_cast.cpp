// Casts between all pairs of types, and bit casts.
#include <cmath>

#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

const std::vector<DType>& all_types() {
  static const std::vector<DType> all = {DType::f64,      DType::f32,    DType::f16,        DType::bf16,
                                         DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz,
                                         DType::f4e2m1,   DType::i64,    DType::i32,        DType::i16,
                                         DType::i8,       DType::i4,     DType::u64,        DType::u32,
                                         DType::u16,      DType::u8,     DType::u4,         DType::boolean};
  return all;
}

// Values that every pair converts alike: a negative or large float has no defined unsigned or small integer.
Range range_of(DType from, DType to) {
  if (!is_floating(from)) return is_signed_integer(from) ? Range{-8, 7} : Range{0, 15};
  if (is_floating(to)) return {-6, 6};
  return is_signed_integer(to) ? Range{-7.9, 7.9} : Range{0, 15.9};
}

void add_cast(Table& table, DType from, DType to) {
  for (const Shape& shape : {Shape{37}, Shape{3, 5, 7}}) {
    auto build = [from, to, shape](GraphMaker& m) {
      return std::vector<Value>{m.g.cast(m.tensor(from, shape, range_of(from, to)), {.to = to})};
    };
    const bool common = bit_width(from) >= 16 && bit_width(to) >= 16;
    table.push_back({fmt::format("cast {} to {} {}", to_string(from), to_string(to), to_string(shape)), build,
                     Closeness::exact,
                     common ? plain_and_one_more(table.size()) : std::vector<Source>{Source::plain}});
  }
}

void add_special_cast(Table& table, DType from, DType to, bool saturate) {
  auto build = [from, to, saturate](GraphMaker& m) {
    std::vector<double> values = {0,        -0.0,      1,     -1,           0.5,           1.5,
                                  2.5,      1e-3,      100,   448,          449,           465,
                                  500,      65504,     65519, 65520,        1e30,          -1e30,
                                  INFINITY, -INFINITY, NAN,   1.0009765625, 1.00048828125, 0.3333333333};
    const auto count = static_cast<int64_t>(values.size());
    return std::vector<Value>{
        m.g.cast(m.input(tensor_of(from, {count}, values)), {.to = to, .saturate = saturate})};
  };
  table.push_back({fmt::format("cast {} to {} of special values{}", to_string(from), to_string(to),
                               saturate ? "" : ", unsaturated"),
                   build});
}

void add_bit_cast(Table& table, DType from, DType to) {
  auto build = [from, to](GraphMaker& m) {
    return std::vector<Value>{m.g.bit_cast(m.tensor(from, {3, 19}, {0, 100}), {.to = to})};
  };
  table.push_back({fmt::format("bit_cast {} to {}", to_string(from), to_string(to)), build, Closeness::exact,
                   plain_and_one_more(table.size())});
}

}  // namespace

void add_cast_cases(Table& table) {
  for (DType from : all_types())
    for (DType to : all_types()) add_cast(table, from, to);
  for (DType from : {DType::f32, DType::f64, DType::f16})
    for (DType to : {DType::f16, DType::bf16, DType::f32, DType::f8e4m3fn, DType::f8e5m2, DType::boolean})
      for (bool saturate : {true, false}) add_special_cast(table, from, to, saturate);
  const std::vector<std::pair<DType, DType>> pairs = {{DType::f32, DType::i32},  {DType::i32, DType::f32},
                                                      {DType::f64, DType::i64},  {DType::f16, DType::u16},
                                                      {DType::bf16, DType::i16}, {DType::u8, DType::i8},
                                                      {DType::u32, DType::f32},  {DType::u64, DType::f64}};
  for (auto [from, to] : pairs) add_bit_cast(table, from, to);
}

}  // namespace ingot::devices
