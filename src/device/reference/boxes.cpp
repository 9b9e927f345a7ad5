#include "ir/boxes.h"

#include <numeric>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"

namespace ingot::reference {
namespace {

struct Limits {
  int64_t boxes;
  double iou, score;
};

// The boxes that stay, best first; of equal scores the first in the list is better.
std::vector<int64_t> suppress(const std::vector<Box>& boxes, const double* scores, const Limits& limits) {
  std::vector<int64_t> order, kept;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (scores[i] > limits.score) order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.boxes) break;
    const Box& box = boxes[static_cast<size_t>(i)];
    bool free = std::none_of(kept.begin(), kept.end(), [&](int64_t k) {
      return overlap(boxes[static_cast<size_t>(k)], box) > limits.iou;
    });
    if (free) kept.push_back(i);
  }
  return kept;
}

void non_max_suppression(KernelContext& c) {
  auto number = [&](size_t i, double missing) { return c.has(i) ? load<double>(c.in(i)).at(0) : missing; };
  Limits limits{c.has(2) ? c.ints(2).at(0) : 0, number(3, 0),
                number(4, -std::numeric_limits<double>::infinity())};
  auto corners = load<double>(c.in(0)), scores = load<double>(c.in(1));
  const Shape& shape = c.in(1).shape();  // batches, classes, boxes
  std::vector<int64_t> rows;
  for (int64_t b = 0; b < shape[0]; ++b) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < shape[2]; ++i) {
      const double* p = &corners[static_cast<size_t>((b * shape[2] + i) * 4)];
      boxes.push_back(make_box(p[0], p[1], p[2], p[3], c.attrs<NonMaxSuppressionAttrs>().centred));
    }
    for (int64_t k = 0; k < shape[1]; ++k)
      for (int64_t i : suppress(boxes, scores.data() + (b * shape[1] + k) * shape[2], limits))
        rows.insert(rows.end(), {b, k, i});
  }
  c.set(0, Tensor::of({static_cast<int64_t>(rows.size() / 3), 3}, rows));
}

}  // namespace

void add_box_kernels(KernelTable& t) { t[Op::NonMaxSuppression] = non_max_suppression; }

}  // namespace ingot::reference
