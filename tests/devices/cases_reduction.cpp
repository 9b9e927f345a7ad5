// Reductions, arg-reductions and running sums.
#include <cmath>

#include "ir/op_info.h"
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

struct Form {
  Shape shape;
  std::vector<int64_t> axes;
  bool keep = true;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {{{37}, {0}},
                                        {{37}, {0}, false},
                                        {{5, 67}, {1}},
                                        {{5, 67}, {0}},
                                        {{5, 67}, {}, false},
                                        {{3, 9, 17}, {1}},
                                        {{3, 9, 17}, {0, 2}},
                                        {{3, 9, 17}, {-1}, false},
                                        {{2, 8, 5, 7}, {2, 3}},
                                        {{2, 8, 5, 7}, {1}, false},
                                        {{2, 5, 7, 33}, {1, 2}},
                                        {{1, 1}, {0}},
                                        {{3, 0}, {0}},
                                        {{0, 3}, {0}},
                                        {{2, 0}, {}, false},
                                        {{700}, {}},
                                        {{3, 517}, {1}},
                                        {{129, 3}, {0}}};
  return all;
}

TableCase reduction(const OpInfo& op, DType dtype, const Form& f, size_t turn) {
  auto build = [&op, dtype, f](GraphMaker& m) {
    const Range range = op.op == Op::ReduceProd ? Range{0.9, 1.1} : Range{-3, 3};
    std::vector<Value> operands = {m.tensor(dtype, f.shape, range)};
    if (!f.axes.empty()) operands.push_back(m.ints(f.axes));
    const std::vector<NamedAttr> attrs = {{"keep_dims", f.keep}};
    return m.g.add(op.make_attrs(attrs), operands);
  };
  const bool sums = op.op != Op::ReduceMax && op.op != Op::ReduceMin;
  std::string name = fmt::format("{} {} {} over {}{}", op.name, to_string(dtype), to_string(f.shape),
                                 to_string(f.axes), f.keep ? "" : ", dropped");
  return {name, build,
          !sums || !is_floating(dtype) ? Closeness::exact
          : op.op == Op::ReduceProd    ? Closeness::composed
                                       : Closeness::sums,
          plain_and_one_more(turn)};
}

void add_reductions(Table& table) {
  for (Op op : {Op::ReduceSum, Op::ReduceMean, Op::ReduceProd, Op::ReduceMax, Op::ReduceMin})
    for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i64, DType::i32, DType::u8})
      for (size_t i = 0; i < forms().size(); ++i) {
        const bool no_identity = op == Op::ReduceMax || op == Op::ReduceMin || op == Op::ReduceMean;
        if (element_count(forms()[i].shape) == 0 && no_identity) continue;
        if (dtype == DType::f32 || i % 2 == table.size() % 2)
          table.push_back(reduction(op_info(op), dtype, forms()[i], table.size()));
      }
}

void add_special_reductions(Table& table) {
  for (Op op : {Op::ReduceSum, Op::ReduceMean, Op::ReduceProd, Op::ReduceMax, Op::ReduceMin})
    for (double special : std::vector<double>{NAN, INFINITY, -INFINITY})
      for (int64_t at : {0, 7, 36}) {
        auto build = [=](GraphMaker& m) {
          std::vector<double> x(2 * 37, 1.5);
          x[static_cast<size_t>(at)] = special;
          return m.g.add(op_info(op).make_attrs({}),
                         {m.input(tensor_of(DType::f32, {2, 37}, x)), m.ints({1})});
        };
        table.push_back(
            {fmt::format("{} with {} at {}", op_info(op).name, special, at), build, Closeness::rounding});
      }
}

void add_arg_reductions(Table& table) {
  for (Op op : {Op::ArgMax, Op::ArgMin})
    for (DType dtype : {DType::f32, DType::f16, DType::i64, DType::i32, DType::u8})
      for (int64_t axis : {0, 1, -1})
        for (bool last : {false, true}) {
          // Few different values, so that there are ties.
          auto build = [=](GraphMaker& m) {
            const std::vector<NamedAttr> attrs = {{"axis", axis}, {"last", last}, {"keep_dims", axis != 1}};
            const Value whole = m.tensor(DType::i32, {4, 19, 33}, {0, 6});
            return m.g.add(op_info(op).make_attrs(attrs), {m.g.cast(whole, {.to = dtype})});
          };
          table.push_back(
              {fmt::format("{} {} axis {}{}", op_info(op).name, to_string(dtype), axis, last ? " last" : ""),
               build, Closeness::exact, plain_and_one_more(table.size())});
        }
}

void add_running_sums(Table& table) {
  for (Op op : {Op::CumSum, Op::CumProd})
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::i64, DType::i32})
      for (int64_t axis : {0, 1, -1})
        for (int form = 0; form < 4; ++form) {
          auto build = [=](GraphMaker& m) {
            const std::vector<NamedAttr> attrs = {{"exclusive", form % 2 == 1}, {"reverse", form / 2 == 1}};
            const Value x = m.tensor(dtype, {3, 11, 9}, op == Op::CumProd ? Range{0.7, 1.3} : Range{-2, 2});
            return m.g.add(op_info(op).make_attrs(attrs), {x, m.constant(Tensor::of<int64_t>({}, {axis}))});
          };
          table.push_back(
              {fmt::format("{} {} axis {} form {}", op_info(op).name, to_string(dtype), axis, form), build,
               op == Op::CumProd ? Closeness::composed : Closeness::sums, plain_and_one_more(table.size())});
        }
}

}  // namespace

void add_reduction_cases(Table& table) {
  add_reductions(table);
  add_special_reductions(table);
  add_arg_reductions(table);
  add_running_sums(table);
}

}  // namespace ingot::devices
