#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "support/thrown_by.h"

namespace ingot::reference {
namespace {

const Type kScalar = Type::tensor(DType::i64, {});

Tensor scalar(int64_t value) { return Tensor::of<int64_t>({}, {value}); }

std::vector<int64_t> values(const Datum& d) {
  auto data = d.tensor().data<int64_t>();
  return {data.begin(), data.end()};
}

GraphPtr share(GraphBuilder&& g) { return std::make_shared<const Graph>(std::move(g).finish()); }

// Runs of the body: sum += iteration * step while sum < 10; each run also gives the sum so far.
GraphPtr summing_body() {
  GraphBuilder g("sum");
  Value i = g.input("i", kScalar);
  g.input("go", Type::tensor(DType::boolean, {}));
  Value sum = g.input("sum", kScalar), step = g.input("step", kScalar);
  Value next = g.add(sum, g.mul(i, step));
  g.output("go", g.less(next, g.constant(scalar(10))));
  g.output("sum", next);
  g.output("seen", next);
  return share(std::move(g));
}

TEST(Loop, RunsWhileTheConditionHoldsAndStacksOneSlicePerRun) {
  GraphBuilder g;
  Value trips = g.input("trips", kScalar), step = g.input("step", kScalar);
  auto out = g.loop(trips, {}, {g.constant(scalar(1))}, summing_body(), {step});
  EXPECT_EQ(to_string(g.type(out[0])), "i64[]");
  g.output("sum", out[0]);
  g.output("seen", out[1]);
  Graph graph = std::move(g).finish();

  auto by_condition = evaluate(graph, std::vector<Datum>{scalar(100), scalar(2)});
  EXPECT_EQ(values(by_condition[0]), std::vector<int64_t>{13});
  EXPECT_EQ(values(by_condition[1]), (std::vector<int64_t>{1, 3, 7, 13}));
  auto by_count = evaluate(graph, std::vector<Datum>{scalar(2), scalar(2)});
  EXPECT_EQ(values(by_count[1]), (std::vector<int64_t>{1, 3}));
  auto never = evaluate(graph, std::vector<Datum>{scalar(0), scalar(2)});
  EXPECT_EQ(values(never[0]), std::vector<int64_t>{1});
  EXPECT_EQ(never[1].tensor().shape(), Shape{0});
}

TEST(Loop, RefusesABodyThatChangesTheTypeOfAState) {
  GraphBuilder body("grow");
  body.input("i", kScalar);
  Value go = body.input("go", Type::tensor(DType::boolean, {}));
  body.input("state", kScalar);
  body.output("go", go);
  body.output("state", body.constant(Tensor::of<float>({}, {1})));
  GraphPtr shared = share(std::move(body));
  GraphBuilder g;
  EXPECT_THAT(thrown_by([&] { g.loop({}, {}, {g.constant(scalar(1))}, shared); }).what(),
              testing::HasSubstr("body 'grow'"));
}

GraphPtr constant_branch(Tensor value) {
  GraphBuilder g("branch");
  g.output("y", g.constant(std::move(value)));
  return share(std::move(g));
}

TEST(If, ResultTypeCoversBothBranches) {
  GraphBuilder g;
  Value condition = g.input("condition", Type::tensor(DType::boolean, {1}));
  auto two = constant_branch(Tensor::of<int64_t>({2, 1}, {1, 2}));
  auto three = constant_branch(Tensor::of<int64_t>({3, 1}, {1, 2, 3}));
  auto flat = constant_branch(scalar(1));
  Value sized = g.if_else(condition, two, three)[0];
  EXPECT_EQ(g.rank(sized), 2);
  EXPECT_FALSE(g.dims(sized)[0].is_constant());
  EXPECT_EQ(g.dims(sized)[1], Dim(1));
  EXPECT_FALSE(g.is_ranked(g.if_else(condition, two, flat)[0]));
  auto real = constant_branch(Tensor::of<float>({}, {1}));
  EXPECT_EQ(thrown_by([&] { g.if_else(condition, flat, real); }).code(), ErrorCode::invalid_argument);
}

TEST(If, SizesOfABranchGetOuterNamesOnlyThroughCaptures) {
  GraphBuilder branch("branch");
  Value inner = branch.input("x", Type::tensor(DType::i64, {Dim::symbol("k"), 2}));
  branch.output("y", branch.concat({inner, inner}, {.axis = 0}));
  GraphPtr shared = share(std::move(branch));
  GraphBuilder g;
  Value condition = g.input("condition", Type::tensor(DType::boolean, {}));
  Value x = g.input("x", Type::tensor(DType::i64, {Dim::symbol("n"), 2}));
  EXPECT_EQ(to_string(g.type(g.if_else(condition, shared, shared, {x})[0])), "i64[2*n, 2]");
}

TEST(Scan, ReadsAndWritesBackwardsAlongAnyAxis) {
  Type column = Type::tensor(DType::i64, {2});
  GraphBuilder body("columns");
  Value sum = body.input("sum", column), x = body.input("x", column);
  Value next = body.add(sum, x);
  body.output("sum", next);
  body.output("so_far", next);
  GraphPtr shared = share(std::move(body));
  GraphBuilder g;
  Value input = g.input("x", Type::tensor(DType::i64, {2, Dim::symbol("n")}));
  auto out = g.scan({g.constant(Tensor::of<int64_t>({2}, {0, 0}))}, {input}, shared, {},
                    {.input_axes = {1}, .input_reversed = {1}, .output_axes = {-1}, .output_reversed = {1}});
  EXPECT_EQ(to_string(g.type(out[1])), "i64[2, n]");
  g.output("sum", out[0]);
  g.output("so_far", out[1]);
  Graph graph = std::move(g).finish();
  auto result = evaluate(graph, std::vector<Datum>{Tensor::of<int64_t>({2, 3}, {1, 2, 3, 10, 20, 30})});
  EXPECT_EQ(values(result[0]), (std::vector<int64_t>{6, 60}));
  // Sums of columns 2, 1, 0 written at positions 2, 1, 0.
  EXPECT_EQ(values(result[1]), (std::vector<int64_t>{6, 5, 3, 60, 50, 30}));
}

}  // namespace
}  // namespace ingot::reference
