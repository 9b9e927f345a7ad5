#include "ir/layered_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ingot {
namespace {

// An arrow across more rows is drawn straight: a place in every row would make large graphs explode.
constexpr int kLongestBentEdge = 40;
constexpr double kBendWidth = 8;
constexpr int kOrderSweeps = 6;
constexpr int kPositionSweeps = 12;

// A box, or the place where an arrow passes a row.
struct Item {
  int row = 0;
  double width = 0;
  double x = 0;
  size_t order = 0;  // in its row
  std::vector<size_t> up = {}, down = {};
};

class Placement {
 public:
  Placement(Layout& layout, double gap) : layout_(layout), gap_(gap) {
    assign_rows();
    add_items();
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) order_rows(sweep % 2 == 0);
    pack();
    for (int sweep = 0; sweep < kPositionSweeps; ++sweep) move_rows(sweep % 2 == 0);
    finish();
  }

 private:
  void assign_rows() {
    for (const LayoutEdge& e : layout_.edges)  // sorted by what they lead to: rows of sources are final
      layout_.boxes[e.to].row = std::max(layout_.boxes[e.to].row, layout_.boxes[e.from].row + 1);
    move_to_readers();
    for (const LayoutBox& b : layout_.boxes) layout_.rows = std::max(layout_.rows, b.row + 1);
  }

  // Side chains (shapes, masks, positions) start at the top but are read far below: a box with no more arrows
  // in than out moves down to just above the first that reads it.
  void move_to_readers() {
    std::vector<int> in(layout_.boxes.size(), 0), out(layout_.boxes.size(), 0);
    std::vector<int> lowest(layout_.boxes.size(), std::numeric_limits<int>::max());
    std::vector<std::vector<size_t>> sources(layout_.boxes.size());
    for (const LayoutEdge& e : layout_.edges) {
      ++in[e.to];
      ++out[e.from];
      sources[e.to].push_back(e.from);
    }
    for (size_t i = layout_.boxes.size(); i-- > 0;) {
      LayoutBox& box = layout_.boxes[i];
      if (out[i] > 0 && in[i] <= out[i] && !box.at_top) box.row = lowest[i] - 1;
      for (size_t from : sources[i]) lowest[from] = std::min(lowest[from], box.row);
    }
  }

  size_t add_item(int row, double width) {
    items_.push_back({.row = row, .width = width, .order = rows_[static_cast<size_t>(row)].size()});
    rows_[static_cast<size_t>(row)].push_back(items_.size() - 1);
    return items_.size() - 1;
  }

  void join(size_t upper, size_t lower) {
    items_[upper].down.push_back(lower);
    items_[lower].up.push_back(upper);
  }

  void add_items() {
    rows_.resize(static_cast<size_t>(layout_.rows));
    for (const LayoutBox& b : layout_.boxes) add_item(b.row, b.width);
    bends_.resize(layout_.edges.size());
    for (size_t i = 0; i < layout_.edges.size(); ++i) {
      const LayoutEdge& e = layout_.edges[i];
      const int from = layout_.boxes[e.from].row, to = layout_.boxes[e.to].row;
      if (to - from > kLongestBentEdge) continue;
      size_t above = e.from;
      for (int row = from + 1; row < to; ++row) {
        bends_[i].push_back(add_item(row, kBendWidth));
        join(above, bends_[i].back());
        above = bends_[i].back();
      }
      join(above, e.to);
    }
  }

  template <class Position>
  double mean(const std::vector<size_t>& neighbours, double otherwise, Position&& position) const {
    if (neighbours.empty()) return otherwise;
    double sum = 0;
    for (size_t n : neighbours) sum += position(items_[n]);
    return sum / static_cast<double>(neighbours.size());
  }

  void order_rows(bool downwards) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::vector<size_t>& row = rows_[downwards ? i : rows_.size() - 1 - i];
      std::vector<std::pair<double, size_t>> keys;
      for (size_t item : row) {
        const Item& it = items_[item];
        const auto relative = [&](const Item& n) {
          return static_cast<double>(n.order) / static_cast<double>(rows_[static_cast<size_t>(n.row)].size());
        };
        keys.emplace_back(mean(downwards ? it.up : it.down, relative(it), relative), item);
      }
      std::stable_sort(keys.begin(), keys.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (size_t k = 0; k < row.size(); ++k) {
        row[k] = keys[k].second;
        items_[row[k]].order = k;
      }
    }
  }

  double distance(size_t left, size_t right) const {
    return (items_[left].width + items_[right].width) / 2 + gap_;
  }

  void pack() {
    for (const std::vector<size_t>& row : rows_)
      for (size_t k = 1; k < row.size(); ++k)
        items_[row[k]].x = items_[row[k - 1]].x + distance(row[k - 1], row[k]);
  }

  // Each item towards its neighbours, pushed apart once to the right and once to the left; the middle of two
  // orders that keep the distances keeps them too.
  void move_rows(bool downwards) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const std::vector<size_t>& row = rows_[downwards ? i : rows_.size() - 1 - i];
      std::vector<double> right;
      for (size_t item : row) {
        const Item& it = items_[item];
        right.push_back(mean(downwards ? it.up : it.down, it.x, [](const Item& n) { return n.x; }));
      }
      std::vector<double> left = right;
      for (size_t k = 1; k < row.size(); ++k)
        right[k] = std::max(right[k], right[k - 1] + distance(row[k - 1], row[k]));
      for (size_t k = row.size(); k-- > 1;)
        left[k - 1] = std::min(left[k - 1], left[k] - distance(row[k - 1], row[k]));
      for (size_t k = 0; k < row.size(); ++k) items_[row[k]].x = (left[k] + right[k]) / 2;
    }
  }

  void finish() {
    double least = 0;
    for (const Item& it : items_) least = std::min(least, it.x - it.width / 2);
    for (Item& it : items_) {
      it.x -= least;
      layout_.width = std::max(layout_.width, it.x + it.width / 2);
    }
    for (size_t i = 0; i < layout_.boxes.size(); ++i) layout_.boxes[i].x = items_[i].x;
    for (size_t i = 0; i < bends_.size(); ++i)
      for (size_t item : bends_[i]) layout_.edges[i].bends.push_back(items_[item].x);
  }

  Layout& layout_;
  double gap_;
  std::vector<Item> items_;                 // first the boxes
  std::vector<std::vector<size_t>> rows_;   // items from left to right
  std::vector<std::vector<size_t>> bends_;  // items of each edge
};

}  // namespace

void place(Layout& layout, double gap) { Placement(layout, gap); }

}  // namespace ingot
