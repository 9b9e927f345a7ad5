#include "device/cpu/copy.h"

#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/move.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kPieceBytes = 32 << 10;  // what one thread moves at a time, at least

// The axis along which the work inside a row is cut, and into how many elements.
struct Pieces {
  int64_t size, length;
  int64_t count() const { return (size + length - 1) / length; }
};

Pieces pieces_of(const CopyPlan& plan, int64_t width) {
  if (!plan.transposes) return {plan.last().size, std::max<int64_t>(kPieceBytes / width, 1)};
  const int64_t across = std::max<int64_t>(kPieceBytes / width / plan.last().size, 16);
  return {plan.second_last().size, across / 16 * 16};
}

// Moves the pieces [begin, end), which are numbered row by row.
template <class T>
void move_pieces(const CopyPlan& plan, const Pieces& pieces, const T* from, T* to, int64_t begin,
                 int64_t end) {
  const int64_t per_row = pieces.count();
  const CopyPlan::Axis last = plan.last();
  StridedWalk<2> walk = walk_rows(plan, begin / per_row);
  for (int64_t i = begin, piece = begin % per_row; i < end; ++i) {
    const int64_t at = piece * pieces.length, length = std::min(pieces.length, pieces.size - at);
    if (plan.transposes) {
      const CopyPlan::Axis across = plan.second_last();
      transpose_block(from + walk.at[0] + at, last.from, to + walk.at[1] + at * across.to, across.to, length,
                      last.size);
    } else {
      move_run(from + walk.at[0] + at * last.from, last.from, to + walk.at[1] + at * last.to, last.to,
               length);
    }
    if (++piece == per_row) piece = 0, walk.next();
  }
}

}  // namespace

void copy(const View& from, const View& to, ThreadPool& pool) {
  if (from.data == to.data && from.strides == to.strides) return;  // in place
  const CopyPlan plan = plan_copy(from, to);
  if (plan.empty) return;
  with_cell(to.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Pieces pieces = pieces_of(plan, sizeof(T));
    const int64_t whole = pieces.length * (plan.transposes ? plan.last().size : 1);
    const int64_t piece_bytes = std::min(whole, pieces.size * (whole / pieces.length)) * int64_t{sizeof(T)};
    pool.parallel_for(plan.rows() * pieces.count(), std::max<int64_t>(kPieceBytes / piece_bytes, 1),
                      [&](int64_t begin, int64_t end, int) {
                        move_pieces(plan, pieces, elements<const T>(from), elements<T>(to), begin, end);
                      });
  });
}

void fill(const std::byte* element, const View& to, ThreadPool& pool) {
  View one = to;
  one.data = const_cast<std::byte*>(element);
  one.strides.fill(0);
  copy(one, to, pool);
}

}  // namespace ingot::cpu
