#include <gtest/gtest.h>

#include "tests/devices/check_graph.h"
#include "tests/devices/random_graph.h"
#include "tests/devices/run.h"
#include "tests/devices/targets.h"

// Results do not depend on the number of threads, bit by bit.
namespace ingot::devices {
namespace {

using Results = std::vector<std::vector<Datum>>;

Results run_all(const TestGraph& graph, const Target& target, int threads) {
  CompileOptions options = target.options;
  options.threads = threads;
  const auto execution = target.device->compile(graph.graph, options)->start();
  Results results;
  for (const auto& inputs : graph.runs) results.push_back(run(*execution, *graph.graph, inputs));
  return results;
}

std::string first_other(const TestGraph& graph, const Results& a, const Results& b) {
  for (size_t run = 0; run < a.size(); ++run)
    for (size_t i = 0; i < a[run].size(); ++i)
      if (!identical(a[run][i], b[run][i]))
        return fmt::format("run {}, output {}", run, graph.graph->outputs()[i].name);
  return {};
}

void expect_equal_for_any_count(const TestGraph& graph, const Target& target, const std::string& name) {
  const Results one = run_all(graph, target, 1);
  for (int threads : {2, 3, 5})
    EXPECT_EQ(first_other(graph, one, run_all(graph, target, threads)), "")
        << name << " with " << threads << " threads on " << target.name << "\n"
        << describe(graph);
}

TEST(Threads, RandomGraphsGiveTheSameBitsForAnyCount) {
  for (const Target& target : targets())
    for (uint64_t seed = 100000; seed < 100100; ++seed)
      expect_equal_for_any_count(random_graph(seed), target, fmt::format("random graph {}", seed));
}

TestGraph made(const std::function<Value(GraphMaker&)>& build) {
  GraphMaker maker(7, Source::plain, false);
  const Value y = build(maker);
  return std::move(maker).finish({y});
}

// Large enough to be split: rows, columns, channels, and sums over one long axis.
TEST(Threads, LargeOpsGiveTheSameBitsForAnyCount) {
  const std::map<std::string, std::function<Value(GraphMaker&)>> ops = {
      {"matmul",
       [](GraphMaker& m) {
         return m.g.matmul(m.tensor(DType::f32, {257, 300}), m.tensor(DType::f32, {300, 131}));
       }},
      {"vector times matrix",
       [](GraphMaker& m) {
         return m.g.matmul(m.tensor(DType::f32, {1, 1500}), m.tensor(DType::f32, {1500, 70}));
       }},
      {"matrix times vector",
       [](GraphMaker& m) {
         return m.g.matmul(m.tensor(DType::f32, {70, 1500}), m.tensor(DType::f32, {1500}));
       }},
      {"deep product",
       [](GraphMaker& m) {
         return m.g.matmul(m.tensor(DType::f32, {3, 5000}), m.tensor(DType::f32, {5000, 3}));
       }},
      {"conv",
       [](GraphMaker& m) {
         return m.g.conv(m.tensor(DType::f32, {1, 20, 33, 35}), m.tensor(DType::f32, {24, 20, 3, 3}), {},
                         {.pads = {1, 1, 1, 1}});
       }},
      {"depthwise",
       [](GraphMaker& m) {
         return m.g.conv(m.tensor(DType::f32, {1, 50, 33, 35}), m.tensor(DType::f32, {50, 1, 3, 3}), {},
                         {.group = 50});
       }},
      {"sum of all", [](GraphMaker& m) { return m.g.reduce_sum(m.tensor(DType::f32, {70003}), {}); }},
      {"sum of columns",
       [](GraphMaker& m) {
         return m.g.reduce_sum(m.tensor(DType::f32, {3001, 5}), m.ints({0}));
       }},
      {"mean of rows",
       [](GraphMaker& m) {
         return m.g.reduce_mean(m.tensor(DType::f32, {5, 9001}), m.ints({1}));
       }},
      {"softmax",
       [](GraphMaker& m) {
         return m.g.softmax(m.tensor(DType::f32, {37, 1003}));
       }},
      {"layer_norm",
       [](GraphMaker& m) {
         return m.g.layer_norm(m.tensor(DType::f32, {65, 384}), m.tensor(DType::f32, {384}), {})[0];
       }},
      {"instance_norm",
       [](GraphMaker& m) {
         return m.g.instance_norm(m.tensor(DType::f32, {1, 3, 90, 91}), m.tensor(DType::f32, {3}),
                                  m.tensor(DType::f32, {3}));
       }},
      {"attention",
       [](GraphMaker& m) {
         const Shape shape = {1, 3, 130, 32};
         const Value q = m.tensor(DType::f32, shape), k = m.tensor(DType::f32, shape),
                     v = m.tensor(DType::f32, shape);
         return m.g.attention(q, k, v, {}, {}, {}, {})[0];
       }},
      {"attention of one query",
       [](GraphMaker& m) {
         const Value k = m.tensor(DType::f32, {1, 2, 1700, 32}), v = m.tensor(DType::f32, {1, 2, 1700, 32});
         return m.g.attention(m.tensor(DType::f32, {1, 6, 1, 32}), k, v, {}, {}, {}, {})[0];
       }},
      {"gelu", [](GraphMaker& m) { return m.g.gelu(m.tensor(DType::f32, {100003})); }},
      {"cum_sum",
       [](GraphMaker& m) {
         return m.g.cum_sum(m.tensor(DType::f32, {20011}), m.constant(Tensor::of<int64_t>({}, {0})));
       }},
      {"scatter add",
       [](GraphMaker& m) {
         const Value x = m.tensor(DType::f32, {50}), at = m.tensor(DType::i64, {5000}, {0, 49});
         return m.g.scatter_elements(x, at, m.tensor(DType::f32, {5000}), {.reduction = Reduction::add});
       }},
  };
  for (const Target& target : targets())
    for (const auto& [name, build] : ops) expect_equal_for_any_count(made(build), target, name);
}

}  // namespace
}  // namespace ingot::devices
