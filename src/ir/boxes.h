#pragma once

#include <algorithm>

// Geometry of non_max_suppression.
namespace ingot {

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

// Either two opposite corners (y, x, y, x) or centre and size (x, y, width, height).
inline Box make_box(double a, double b, double c, double d, bool centred) {
  if (centred) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

// Area of the intersection over that of the union; boxes without area meet nothing.
inline double overlap(const Box& a, const Box& b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return 0;
  double both = height * width;
  return both / (a.area() + b.area() - both);
}

}  // namespace ingot
