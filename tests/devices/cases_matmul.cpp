// Matrix products in all forms.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

struct Pair {
  Shape a, b;
};

void add_matmul(Table& table, DType dtype, const Pair& p, const std::vector<Source>& sources) {
  auto build = [=](GraphMaker& m) {
    const Value a = m.tensor(dtype, p.a, {-2, 2}), b = m.tensor(dtype, p.b, {-2, 2});
    return std::vector<Value>{m.g.matmul(a, b)};
  };
  table.push_back({fmt::format("matmul {} {} {}", to_string(dtype), to_string(p.a), to_string(p.b)), build,
                   Closeness::sums, sources});
}

void add_matmuls(Table& table) {
  const std::vector<Pair> pairs = {
      {{1, 1}, {1, 1}},
      {{5, 7}, {7, 3}},
      {{17, 33}, {33, 19}},
      {{64, 64}, {64, 64}},
      {{1, 77}, {77, 65}},
      {{77, 65}, {65, 1}},
      {{13, 1}, {1, 47}},
      {{6, 129}, {129, 16}},
      {{33}, {33, 5}},
      {{5, 33}, {33}},
      {{33}, {33}},
      {{2, 9, 17}, {17, 31}},
      {{3, 5, 16}, {3, 16, 21}},
      {{2, 3, 7, 8}, {3, 8, 9}},
      {{2, 1, 7, 8}, {1, 3, 8, 9}},
      {{7, 8}, {3, 8, 9}},
      {{0, 4}, {4, 3}},
      {{3, 0}, {0, 4}},
      {{100, 12}, {12, 130}},
      {{31, 255}, {255, 48}},
      {{14, 32}, {32, 96}},
      {{2, 12, 11, 16}, {2, 12, 16, 11}},
      {{2, 3, 2, 5, 3, 4}, {2, 3, 2, 5, 4, 5}},  // more batch axes than tiles walk
      {{2, 3, 1, 2, 2, 3, 4}, {4, 5}}};
  for (const Pair& p : pairs) add_matmul(table, DType::f32, p, all_sources());
  for (DType dtype : {DType::f16, DType::bf16, DType::f64, DType::i32, DType::i64, DType::i8, DType::u8})
    for (const Pair& p : pairs) add_matmul(table, dtype, p, plain_and_one_more(table.size()));
}

void add_gemms(Table& table) {
  const std::vector<Shape> biases = {{1}, {19}, {13, 1}, {1, 19}, {13, 19}, {}};
  for (DType dtype : {DType::f32, DType::f16, DType::f64, DType::i32})
    for (int form = 0; form < 4; ++form)
      for (size_t bias = 0; bias <= biases.size(); ++bias) {
        auto build = [=](GraphMaker& m) {
          const bool ta = form % 2 == 1, tb = form / 2 == 1;
          const Value a = m.tensor(dtype, ta ? Shape{35, 13} : Shape{13, 35}, {-2, 2});
          const Value b = m.tensor(dtype, tb ? Shape{19, 35} : Shape{35, 19}, {-2, 2});
          const Value c = bias < biases.size() ? m.tensor(dtype, biases[bias], {-2, 2}) : Value();
          const double scale = is_floating(dtype) ? 0.5 : 2;
          return std::vector<Value>{m.g.gemm(
              a, b, c,
              {.alpha = scale, .beta = bias % 2 == 0 ? 1.0 : 3.0, .transpose_a = ta, .transpose_b = tb})};
        };
        table.push_back({fmt::format("gemm {} form {} bias {}", to_string(dtype), form,
                                     bias < biases.size() ? to_string(biases[bias]) : "none"),
                         build, dtype == DType::f16 ? Closeness::composed : Closeness::sums,
                         plain_and_one_more(table.size())});
      }
}

void add_einsums(Table& table) {
  struct Form {
    const char* equation;
    std::vector<Shape> shapes;
  };
  const std::vector<Form> forms = {{"ij,jk->ik", {{7, 9}, {9, 5}}},
                                   {"bhid,bhjd->bhij", {{2, 3, 5, 8}, {2, 3, 7, 8}}},
                                   {"bij,bjk->bki", {{2, 5, 7}, {2, 7, 3}}},
                                   {"ij->ji", {{5, 9}}},
                                   {"ij->i", {{5, 9}}},
                                   {"ii->i", {{6, 6}}},
                                   {"i,j->ij", {{5}, {7}}},
                                   {"...ij,...jk->...ik", {{2, 3, 4, 5}, {3, 5, 6}}},
                                   {"bld,de->ble", {{2, 9, 16}, {16, 12}}},
                                   {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 6}}}};
  for (DType dtype : {DType::f32, DType::f16, DType::i64})
    for (const Form& f : forms) {
      auto build = [=](GraphMaker& m) {
        std::vector<Value> operands;
        for (const Shape& shape : f.shapes) operands.push_back(m.tensor(dtype, shape));
        return std::vector<Value>{m.g.einsum(operands, {.equation = f.equation})};
      };
      // Products of three round in between.
      table.push_back({fmt::format("einsum {} {}", f.equation, to_string(dtype)), build,
                       f.shapes.size() == 3 && is_floating(dtype) ? Closeness::composed : Closeness::sums,
                       plain_and_one_more(table.size())});
    }
}

void add_integer_matmuls(Table& table) {
  const std::vector<Pair> pairs = {
      {{5, 7}, {7, 3}}, {{17, 64}, {64, 33}}, {{2, 9, 130}, {130, 16}}, {{1, 256}, {256, 48}}};
  for (DType a : {DType::u8, DType::i8})
    for (DType b : {DType::u8, DType::i8})
      for (const Pair& p : pairs)
        for (int zeros = 0; zeros < 3; ++zeros) {
          auto build = [=](GraphMaker& m) {
            const Value x = m.tensor(a, p.a, {-128, 255}), y = m.tensor(b, p.b, {-128, 255});
            const Value zero_x = zeros > 0 ? m.input(random_tensor(m.random, a, {}, {0, 127})) : Value();
            const Shape columns = zeros == 2 ? Shape{p.b.back()} : Shape{};
            const Value zero_y = zeros > 0 ? m.input(random_tensor(m.random, b, columns, {0, 127})) : Value();
            return std::vector<Value>{m.g.matmul_integer(x, y, zero_x, zero_y)};
          };
          table.push_back({fmt::format("matmul_integer {} {} {} {} zeros {}", to_string(a), to_string(b),
                                       to_string(p.a), to_string(p.b), zeros),
                           build, Closeness::exact, plain_and_one_more(table.size())});
        }
}

}  // namespace

void add_matmul_cases(Table& table) {
  add_matmuls(table);
  add_gemms(table);
  add_einsums(table);
  add_integer_matmuls(table);
}

}  // namespace ingot::devices
