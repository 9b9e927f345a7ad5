#include <limits>
#include <numeric>

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/table.h"
#include "ir/boxes.h"

namespace ingot::cpu {
namespace {

// Boxes [batch, n, 4] and scores [batch, class, n]. Each pair of batch and class is a list of its own.
class Suppression {
 public:
  explicit Suppression(const RoutineCall& call)
      : call_(call),
        scores_(call.in[1]),
        batches_(scores_.sizes[0]),
        classes_(scores_.sizes[1]),
        count_(scores_.sizes[2]),
        boxes_(reinterpret_cast<Box*>(call.scratch)),
        kept_(reinterpret_cast<int64_t*>(boxes_ + batches_ * count_)),
        starts_(kept_ + lists() * count_) {}

  int64_t scratch_bytes() const {
    return batches_ * count_ * static_cast<int64_t>(sizeof(Box)) +
           (lists() * count_ + lists()) * static_cast<int64_t>(sizeof(int64_t));
  }

  // Fills the lists of boxes that stay; how many there are in all.
  int64_t suppress() {
    if (has(call_, 2)) most_ = integer_at(call_.in[2], 0);
    if (has(call_, 3)) iou_ = real_at(call_.in[3], 0);
    if (has(call_, 4)) score_ = real_at(call_.in[4], 0);
    for (int64_t b = 0; b < batches_; ++b)
      for (int64_t i = 0; i < count_; ++i) boxes_[b * count_ + i] = box(b, i);
    call_.pool.parallel_for(lists(), 1, [&](int64_t list, int64_t, int) { starts_[list] = suppress(list); });
    int64_t total = 0;
    for (int64_t list = 0; list < lists(); ++list) total += std::exchange(starts_[list], total);
    total_ = total;
    return total;
  }

  void write(const View& out) const {
    for (int64_t list = 0; list < lists(); ++list) {
      const int64_t end = list + 1 < lists() ? starts_[list + 1] : total_;
      for (int64_t row = starts_[list]; row < end; ++row) {
        int64_t* to = elements<int64_t>(out) + row * out.strides[0];
        to[0] = list / classes_;
        to[out.strides[1]] = list % classes_;
        to[2 * out.strides[1]] = kept_[list * count_ + row - starts_[list]];
      }
    }
  }

 private:
  int64_t lists() const { return batches_ * classes_; }

  Box box(int64_t batch, int64_t i) const {
    const View& v = call_.in[0];
    const float* p = elements<const float>(v) + batch * v.strides[0] + i * v.strides[1];
    auto at = [&](int64_t k) { return static_cast<double>(p[k * v.strides[2]]); };
    return make_box(at(0), at(1), at(2), at(3), call_.node.as<NonMaxSuppressionAttrs>().centred);
  }

  // Best first; of equal scores the first in the list is better. The candidates and those that stay share
  // memory.
  int64_t suppress(int64_t list) const {
    const Box* boxes = boxes_ + list / classes_ * count_;
    int64_t* order = kept_ + list * count_;
    const float* scores = elements<const float>(scores_) + list / classes_ * scores_.strides[0] +
                          list % classes_ * scores_.strides[1];
    auto score = [&](int64_t i) { return scores[i * scores_.strides[2]]; };
    int64_t candidates = 0;
    for (int64_t i = 0; i < count_; ++i)
      if (static_cast<double>(score(i)) > score_) order[candidates++] = i;
    std::sort(order, order + candidates,
              [&](int64_t a, int64_t b) { return score(a) > score(b) || (score(a) == score(b) && a < b); });
    int64_t kept = 0;
    for (int64_t i = 0; i < candidates && kept < most_; ++i) {
      const Box& candidate = boxes[order[i]];
      if (std::none_of(order, order + kept, [&](int64_t k) { return overlap(boxes[k], candidate) > iou_; }))
        order[kept++] = order[i];
    }
    return kept;
  }

  const RoutineCall& call_;
  const View& scores_;
  int64_t batches_, classes_, count_;
  Box* boxes_;        // by batch
  int64_t* kept_;     // by list
  int64_t* starts_;   // of each list in the output
  int64_t most_ = 0;  // per list
  int64_t total_ = 0;
  double iou_ = 0, score_ = -std::numeric_limits<double>::infinity();
};

void measure(const RoutineCall& call) {
  call.out[0].rank = 2;
  call.out[0].sizes = {Suppression(call).suppress(), 3};
}

void run(const RoutineCall& call) {
  Suppression suppression(call);
  const int64_t rows = suppression.suppress();
  if (rows != call.out[0].sizes[0])
    refuse(call, fmt::format("{} boxes, as the node says", call.out[0].sizes[0]), fmt::format("{}", rows));
  suppression.write(call.out[0]);
}

bool supports(const RoutineCall& call) {
  return moves_cells(call) && call.in[0].dtype == DType::f32 && call.in[1].dtype == DType::f32;
}

}  // namespace

void add_box_routines(RoutineTable& t) {
  t[Op::NonMaxSuppression] = {
      .supports = supports,
      .scratch_bytes = [](const RoutineCall& call) { return Suppression(call).scratch_bytes(); },
      .measure = measure,
      .run = run};
}

}  // namespace ingot::cpu
