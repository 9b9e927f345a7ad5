#include <gtest/gtest.h>

#include "ingot/import.h"
#include "support/onnx_model.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using namespace onnx_model;

constexpr int kBool = 9;

Graph import(const std::string& bytes) {
  auto kept = std::make_shared<const std::string>(bytes);
  return import_onnx(std::as_bytes(std::span(*kept)), kept, "hand-made");
}

size_t count(const Graph& graph, Op op) {
  return static_cast<size_t>(std::ranges::count(graph.nodes(), op, &Node::op));
}

// y = then_branch or else_branch, both one node of x.
std::string choice(std::string_view condition, std::string_view then_op, std::string_view else_op) {
  auto branch = [](std::string_view op) {
    return block(2, "branch") + node(op, {"x"}, {"b"}) + output("b", f32, {"n"});
  };
  return node(
      "If", {std::string(condition)}, {"y"},
      graph_attribute("then_branch", branch(then_op)) + graph_attribute("else_branch", branch(else_op)));
}

TEST(If, KeepsOnlyTheBranchThatAKnownRankDecides) {
  const std::string graph = node("Shape", {"x"}, {"shape"}) + node("Size", {"shape"}, {"rank"}) +
                            node("Equal", {"rank", "two"}, {"flat"}) + choice("flat", "Abs", "Neg") +
                            initializer(tensor("two", i64, {}, raw(std::string("\2\0\0\0\0\0\0\0", 8)))) +
                            input("x", f32, {"n", "3"}) + output("y", f32, {"n", "3"});
  const Graph imported = import(model(graph));
  EXPECT_EQ(count(imported, Op::If), 0u);
  EXPECT_EQ(count(imported, Op::Abs), 1u);
  EXPECT_EQ(count(imported, Op::Neg), 0u);
}

TEST(If, BecomesANodeThatCapturesWhatItsBranchesRead) {
  const std::string graph =
      choice("c", "Abs", "Neg") + input("c", kBool, {}) + input("x", f32, {"n"}) + output("y", f32, {"n"});
  const Graph imported = import(model(graph));
  const Node& node = imported.node(imported.outputs()[0].value);
  EXPECT_EQ(node.op, Op::If);
  EXPECT_EQ(node.operands.size(), 2u);
  EXPECT_EQ(to_string(node.types[0]), "f32[n]");
}

// The state doubles in each run, so its size is unknown after; its second size stays.
TEST(Loop, WidensTheTypeOfAStateThatTheBodyChanges) {
  const std::string body = block(2, "body") + node("Concat", {"s", "s"}, {"t"}, int_attribute("axis", 0)) +
                           node("Identity", {"c"}, {"d"}) + input("i", i64, {}) + input("c", kBool, {}) +
                           input("s", f32, {"n", "3"}) + output("d", kBool, {}) +
                           output("t", f32, {"n", "3"});
  const std::string graph = node("Loop", {"trips", "", "x"}, {"y"}, graph_attribute("body", body)) +
                            input("trips", i64, {}) + input("x", f32, {"n", "3"}) +
                            output("y", f32, {"m", "3"});
  const Graph imported = import(model(graph));
  const Type& type = imported.type(imported.outputs()[0].value);
  EXPECT_NE((*type.dims)[0], Dim::symbol("n"));
  EXPECT_EQ((*type.dims)[1], Dim(3));
}

// Function i calls function i + 1 twice: 2^40 nodes.
TEST(Functions, RefuseToUnfoldWithoutEnd) {
  const std::string opsets = block(9, number(2, 18)) + block(9, block(1, "own") + number(2, 1));
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    auto call = [&](std::string_view from, std::string_view to) {
      const bool last = i == 39;
      return block(7, block(1, from) + block(2, to) + block(4, last ? "Abs" : fmt::format("F{}", i + 1)) +
                          block(7, last ? "" : "own"));
    };
    functions += block(25, block(1, fmt::format("F{}", i)) + block(4, "x") + block(5, "y") + call("x", "a") +
                               call("a", "y") + opsets + block(10, "own"));
  }
  const std::string graph = block(1, block(1, "x") + block(2, "y") + block(4, "F0") + block(7, "own")) +
                            input("x", f32, {"n"}) + output("y", f32, {"n"});
  const Error e =
      thrown_by([&] { import(model(graph) + block(8, block(1, "own") + number(2, 1)) + functions); });
  EXPECT_EQ(e.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string(e.what()).find("unfolded"), std::string::npos) << e.what();
}

}  // namespace
}  // namespace ingot
