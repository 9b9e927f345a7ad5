#include "ir/draw.h"

#include <cmath>

#include "ir/layered_layout.h"

namespace ingot {
namespace {

// Random graphs: arrows point down, boxes of a row keep their distance.
TEST(LayeredLayout, ArrowsPointDownAndBoxesDoNotOverlap) {
  uint32_t random = 1;
  const auto next = [&](uint32_t n) { return (random = random * 1664525 + 1013904223) / 65536 % n; };
  for (int round = 0; round < 20; ++round) {
    Layout layout;
    for (size_t i = 0; i < 60; ++i) {
      layout.boxes.push_back({.width = 40 + next(100) * 1.0});
      for (uint32_t k = next(3); i > 0 && k > 0; --k)
        layout.edges.push_back({next(static_cast<uint32_t>(i)), i, {}});
    }
    layout.boxes[0].at_top = true;
    place(layout, 10);
    EXPECT_EQ(layout.boxes[0].row, 0);
    for (const LayoutEdge& e : layout.edges) {
      const int from = layout.boxes[e.from].row, to = layout.boxes[e.to].row;
      EXPECT_LT(from, to);
      EXPECT_EQ(e.bends.size(), static_cast<size_t>(to - from - 1));
    }
    for (size_t a = 0; a < 60; ++a)
      for (size_t b = 0; b < a; ++b) {
        const LayoutBox &p = layout.boxes[a], &q = layout.boxes[b];
        if (p.row == q.row) {
          EXPECT_GE(std::abs(p.x - q.x), (p.width + q.width) / 2 + 10 - 1e-6);
        }
      }
  }
}

// What is read far below is placed there, unless it must stay at the top.
TEST(LayeredLayout, SideChainsMoveDownToTheirReaders) {
  for (bool at_top : {false, true}) {
    Layout layout;
    layout.boxes.assign(7, {.width = 40});
    layout.boxes[5].at_top = at_top;
    for (size_t i = 1; i < 5; ++i) layout.edges.push_back({i - 1, i, {}});
    layout.edges.push_back({4, 6, {}});
    layout.edges.push_back({5, 6, {}});
    place(layout, 10);
    EXPECT_EQ(layout.boxes[0].row, 0);
    EXPECT_EQ(layout.boxes[6].row, 5);
    EXPECT_EQ(layout.boxes[5].row, at_top ? 0 : 4);
  }
}

TEST(Draw, BodiesFollowUnderTheNameOfTheirNode) {
  GraphBuilder body("left");
  body.output("y", body.constant(Tensor::of<float>({}, {1})));
  const auto branch = std::make_shared<const Graph>(std::move(body).finish());
  GraphBuilder g("main");
  const Value condition = g.input("c", Type::tensor(DType::boolean, Dims{}));
  g.set_origin("/choice");
  g.output("out", g.if_else(condition, branch, branch)[0]);
  const std::string svg = draw_svg(std::move(g).finish());
  EXPECT_NE(svg.find(">body 1 of if /choice: left<"), std::string::npos);
  EXPECT_NE(svg.find(">body 2 of if /choice: left<"), std::string::npos);
}

TEST(Draw, EveryNodeHasABoxAndNamesAreEscaped) {
  GraphBuilder g("a<b");
  const Value x = g.input("x&y", Type::tensor(DType::f32, {Dim::symbol("n"), 2}));
  g.set_origin("/layer/\"Relu\"");
  g.output("out", g.relu(g.add(x, g.constant(Tensor::of<float>({2}, {1, 2})))));
  const std::string svg = draw_svg(std::move(g).finish());
  const auto count = [&](std::string_view text) {
    int n = 0;
    for (size_t at = 0; (at = svg.find(text, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("<g>"), 4);               // input, add, relu, output: the constant is not drawn
  EXPECT_EQ(count("<path d=\"M"), 4);       // three arrows and the tip
  EXPECT_EQ(count("x&amp;y"), 2);           // the label and the tooltip
  EXPECT_EQ(count("&quot;Relu&quot;"), 2);  // of the sum as well
  EXPECT_EQ(count("<title>a&lt;b</title>"), 1);
  EXPECT_EQ(count("f32[n, 2]"), 7);  // a label and a tooltip per node; the output's tooltip has none
}

}  // namespace
}  // namespace ingot
