#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ingot {

// Places boxes joined by arrows in rows, so that every arrow points down and few of them cross: the method of
// Sugiyama (layers by longest path, boxes moved down to their readers where that shortens arrows, order by
// barycentres, then positions near the neighbours). Time grows with boxes and arrows times a small constant.
struct LayoutBox {
  double width = 0;
  bool at_top = false;  // stays in the first row that its arrows allow
  // Results.
  int row = 0;
  double x = 0;  // of the centre
};

struct LayoutEdge {
  size_t from = 0;
  size_t to = 0;
  std::vector<double>
      bends;  // result: where it passes the rows between, from the top; empty where they are too many
};

struct Layout {
  std::vector<LayoutBox> boxes;   // of the caller, in an order where every edge leads to a later one
  std::vector<LayoutEdge> edges;  // of the caller
  int rows = 0;                   // results
  double width = 0;
};

void place(Layout& layout, double gap);

}  // namespace ingot
