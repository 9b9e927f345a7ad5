#include "passes/pattern_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "device/reference/evaluate.h"
#include "ir/numeric.h"
#include "ir/op_info.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/pipeline.h"

namespace ingot {
namespace {

size_t occurrences(const Graph& graph, std::string_view op) {
  return static_cast<size_t>(
      std::ranges::count_if(graph.nodes(), [&](const Node& n) { return to_string(n.op) == op; }));
}

std::map<std::string, int64_t, std::less<>> symbol_sizes(const Graph& graph) {
  std::map<std::string, int64_t, std::less<>> sizes;
  for (const Port& p : graph.inputs())
    for (const Dim& d : *graph.type(p.value).dims)
      d.visit_symbols([&](std::string_view name, int64_t, int64_t) { sizes[std::string(name)] = 0; });
  int64_t next = 2;
  for (auto& [name, size] : sizes) size = next++;
  return sizes;
}

// Booleans in about half of the places, small whole numbers for integers, else from [-2, 2].
Tensor random_tensor(DType dtype, Shape shape, std::mt19937& engine) {
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (double& v : values) {
    v = uniform(engine);
    if (dtype == DType::boolean) v = v > 0 ? 1 : 0;
    if (is_integer(dtype)) v = std::floor(std::fabs(v));
  }
  Tensor t = Tensor::allocate(dtype, std::move(shape));
  encode_from_f64(dtype, values.data(), t.count(), t.mutable_bytes().data());
  return t;
}

std::vector<Datum> random_inputs(const Graph& graph) {
  std::mt19937 engine(7);
  auto sizes = symbol_sizes(graph);
  std::vector<Datum> inputs;
  for (const Port& p : graph.inputs()) {
    Shape shape;
    for (const Dim& d : *graph.type(p.value).dims)
      shape.push_back(d.substitute([&](std::string_view name) {
                         return std::optional<Dim>(sizes.find(name)->second);
                       }).constant());
    inputs.emplace_back(random_tensor(graph.type(p.value).dtype, shape, engine));
  }
  return inputs;
}

std::vector<double> numbers(const Tensor& t) {
  std::vector<double> out(static_cast<size_t>(t.count()));
  decode_to_f64(t.dtype(), t.bytes().data(), t.count(), out.data());
  return out;
}

void expect_close(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  auto x = numbers(a), y = numbers(b);
  double largest = 1;
  for (double v : x) largest = std::max(largest, std::fabs(v));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * largest) << "element " << i;
}

void expect_same_results(const Graph& a, const Graph& b, double tolerance) {
  auto inputs = random_inputs(a);
  auto x = reference::evaluate(a, inputs), y = reference::evaluate(b, inputs);
  for (size_t i = 0; i < x.size(); ++i) expect_close(x[i].tensor(), y[i].tensor(), tolerance);
}

}  // namespace

std::string expect_recognised(const std::string& body, std::string_view pass, std::string_view op,
                              size_t count, double tolerance) {
  Graph graph = parse_graph("graph \"g\" {\n" + body + "}");
  Graph optimised = run_pipeline(graph, {.verify_each = true});
  Graph without = run_pipeline(graph, {.disabled = {std::string(pass)}, .verify_each = true});
  EXPECT_EQ(occurrences(optimised, op), occurrences(without, op) + count) << print(optimised);
  expect_same_results(graph, optimised, tolerance);
  return print(optimised);
}

std::string expect_pass_acts(const std::string& body, std::string_view pass, double tolerance) {
  Graph graph = parse_graph("graph \"g\" {\n" + body + "}");
  Graph optimised = run_pipeline(graph, {.verify_each = true});
  EXPECT_NE(print(optimised), print(run_pipeline(graph, {.disabled = {std::string(pass)}})));
  expect_same_results(graph, optimised, tolerance);
  return print(optimised);
}

void expect_not_recognised(const std::string& body, std::string_view op) {
  Graph graph = parse_graph("graph \"g\" {\n" + body + "}");
  Graph optimised = run_pipeline(graph, {.verify_each = true});
  EXPECT_EQ(occurrences(optimised, op), 0u) << print(optimised);
  expect_same_results(graph, optimised, 1e-5);
}

}  // namespace ingot
