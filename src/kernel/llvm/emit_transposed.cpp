#include <llvm/IR/Constants.h>

#include "kernel/llvm/nest_frame.h"

namespace ingot::kernel {
namespace {

using Values = FunctionEmitter::Values;

size_t index_of(int32_t i) { return static_cast<size_t>(i); }

// Contiguous along the axis before the last, and not along the last.
bool is_transposed(const Access& access) {
  if (access.strides.size() < 2 || access.dtype == DType::boolean) return false;
  const Size& along_vectors = access.strides.back();
  return access.strides[access.strides.size() - 2].is(1) && !along_vectors.is(0) && !along_vectors.is(1);
}

// Rows of a square matrix become its columns.
Values transposed(FunctionEmitter& emitter, Values rows) {
  for (int distance = emitter.lanes() / 2; distance > 0; distance /= 2) {
    llvm::SmallVector<int> low, high;  // lanes of the second operand count from lanes() on
    for (int lane = 0; lane < emitter.lanes(); ++lane) {
      const bool from_second = (lane & distance) != 0;
      low.push_back(from_second ? emitter.lanes() + (lane ^ distance) : lane);
      high.push_back(from_second ? emitter.lanes() + lane : lane ^ distance);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if ((i & static_cast<size_t>(distance)) != 0) continue;
      auto*& a = rows[i];
      auto*& b = rows[i + static_cast<size_t>(distance)];
      auto* first = emitter.builder().CreateShuffleVector(a, b, low);
      b = emitter.builder().CreateShuffleVector(a, b, high);
      a = first;
    }
  }
  return rows;
}

// Works in square tiles of the last two axes. Accesses that lie across are transposed in registers, to or
// from a buffer on the stack that has a row per index of the axis before the last; ragged tiles of theirs
// take the way through a second buffer.
class TransposedEmitter {
 public:
  explicit TransposedEmitter(NestFrame& frame)
      : frame_(frame),
        emitter_(frame.emitter()),
        nest_(frame.nest()),
        column_axis_(nest_.axes.size() - 1),
        row_axis_(nest_.axes.size() - 2),
        buffers_(nest_.accesses.size()) {
    for (size_t a = 0; a < nest_.accesses.size(); ++a)
      if (is_transposed(nest_.accesses[a])) buffers_[a] = new_buffer();
    staging_ = new_buffer();
  }

  void run() {
    auto& b = frame_.builder();
    emitter_.if_then(b.CreateICmpSLT(frame_.begin(), frame_.end()), [&] {
      if (row_axis_ == 0) return rows(frame_.start(), {frame_.begin(), frame_.end()});
      auto* extent = frame_.extent(row_axis_);
      auto* first = b.CreateUDiv(frame_.begin(), extent);
      auto* end =
          b.CreateAdd(b.CreateUDiv(b.CreateSub(frame_.end(), emitter_.i64(1)), extent), emitter_.i64(1));
      walk_space(frame_, {first, end}, row_axis_, [&](const Place& place, llvm::Value* position) {
        auto* origin = b.CreateMul(position, extent);
        rows(place, {larger(b.CreateSub(frame_.begin(), origin), emitter_.i64(0)),
                     smaller(b.CreateSub(frame_.end(), origin), extent)});
      });
    });
  }

 private:
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) {
    return frame_.builder().CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  }
  llvm::Value* larger(llvm::Value* a, llvm::Value* b) {
    return frame_.builder().CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  }

  int64_t tile() const { return frame_.lanes(); }
  llvm::Value* new_buffer() {
    auto& b = frame_.builder();
    auto* buffer = b.CreateAlloca(b.getInt8Ty(), emitter_.i64(tile() * tile() * 8));
    buffer->setAlignment(llvm::Align(64));
    return buffer;
  }
  DType buffer_type(size_t access) const { return arithmetic_type(nest_.accesses[access].dtype); }
  // Row i of a buffer of elements of a type.
  llvm::Value* row_of(llvm::Value* buffer, DType dtype, llvm::Value* i) {
    return emitter_.at(buffer, frame_.builder().CreateMul(i, emitter_.i64(tile() * bit_width(dtype) / 8)));
  }

  void rows(const Place& place, Range range) {
    auto& b = frame_.builder();
    emitter_.loop(range.low, range.high, tile(), [&](llvm::Value* row) {
      const Place first_row = frame_.along(place, row_axis_, row);
      row_count_ = smaller(b.CreateSub(range.high, row), emitter_.i64(tile()));
      auto* columns = frame_.extent(column_axis_);
      emitter_.loop(emitter_.i64(0), columns, tile(), [&](llvm::Value* column) {
        column_count_ = smaller(b.CreateSub(columns, column), emitter_.i64(tile()));
        is_whole_ = b.CreateICmpEQ(b.CreateAdd(row_count_, column_count_), emitter_.i64(2 * tile()));
        run_tile(frame_.along(first_row, column_axis_, column));
      });
    });
  }

  void run_tile(const Place& first) {
    std::vector<bool> loaded(buffers_.size()), stored(buffers_.size());
    for (const Expr& e : nest_.exprs)
      if (e.kind == ExprKind::load) loaded[index_of(e.source)] = true;
    for (const Store& s : nest_.stores) stored[index_of(s.access)] = true;
    for (size_t a = 0; a < buffers_.size(); ++a)
      if (buffers_[a] != nullptr && loaded[a]) fetch(a, first);
    auto* mask = emitter_.lane_mask(column_count_);
    emitter_.loop(emitter_.i64(0), row_count_, 1, [&](llvm::Value* i) { run_row(first, i, mask); });
    for (size_t a = 0; a < buffers_.size(); ++a)
      if (buffers_[a] != nullptr && stored[a]) put_back(a, first);
  }

  void run_row(const Place& first, llvm::Value* i, llvm::Value* mask) {
    Place place = frame_.along(first, row_axis_, i);
    place.index[row_axis_] = frame_.builder().CreateAdd(first.index[row_axis_], i);
    auto leaf = [this, i, direct = frame_.leaf(place, mask)](int32_t expr) {
      const Expr& e = nest_.exprs[index_of(expr)];
      const size_t access = index_of(e.source);
      if (e.kind != ExprKind::load || buffers_[access] == nullptr) return direct(expr);
      const DType dtype = buffer_type(access);
      return emitter_.load_vector(dtype, row_of(buffers_[access], dtype, i), nullptr);
    };
    Expressions values(emitter_, nest_, leaf);
    Values results;
    for (const Store& store : nest_.stores) results.push_back(values.value(store.expr));
    for (size_t s = 0; s < results.size(); ++s) {
      const size_t access = index_of(nest_.stores[s].access);
      if (buffers_[access] == nullptr) {
        frame_.store(nest_.stores[s], place, results[s], mask);
        continue;
      }
      const DType dtype = buffer_type(access);
      emitter_.store_vector(dtype, results[s], row_of(buffers_[access], dtype, i), nullptr);
    }
  }

  // Columns of an access as they lie, or in the staging buffer.
  struct Columns {
    llvm::Value* pointer;
    llvm::Value* stride;
  };
  llvm::Value* column(const Place& first, size_t access, llvm::Value* i) {
    return frame_.along(first, column_axis_, i).pointer[access];
  }
  Columns columns(const Place& first, size_t access) {
    auto& b = frame_.builder();
    const DType dtype = nest_.accesses[access].dtype;
    auto* staged = emitter_.i64(tile() * bit_width(dtype) / 8);
    return {b.CreateSelect(is_whole_, first.pointer[access], staging_),
            b.CreateSelect(is_whole_, frame_.stride_bytes(access, column_axis_), staged)};
  }

  // Moves the columns of a ragged tile between the access and the staging buffer.
  void stage(const Place& first, size_t access, bool in) {
    const DType dtype = nest_.accesses[access].dtype;
    emitter_.if_then(frame_.builder().CreateNot(is_whole_), [&] {
      auto* mask = emitter_.lane_mask(row_count_);
      emitter_.loop(emitter_.i64(0), column_count_, 1, [&](llvm::Value* i) {
        auto* outside = column(first, access, i);
        auto* staged = row_of(staging_, dtype, i);
        if (in)
          emitter_.store_vector(dtype, emitter_.load_vector(dtype, outside, mask), staged, nullptr);
        else
          emitter_.store_vector(dtype, emitter_.load_vector(dtype, staged, nullptr), outside, mask);
      });
    });
  }

  void fetch(size_t access, const Place& first) {
    stage(first, access, true);
    const DType dtype = nest_.accesses[access].dtype;
    const Columns from = columns(first, access);
    Values vectors;
    for (int64_t i = 0; i < tile(); ++i) {
      auto* offset = frame_.builder().CreateMul(from.stride, emitter_.i64(i));
      vectors.push_back(emitter_.load_vector(dtype, emitter_.at(from.pointer, offset), nullptr));
    }
    vectors = transposed(emitter_, std::move(vectors));
    for (int64_t i = 0; i < tile(); ++i)
      emitter_.store_vector(buffer_type(access), vectors[static_cast<size_t>(i)],
                            row_of(buffers_[access], buffer_type(access), emitter_.i64(i)), nullptr);
  }

  void put_back(size_t access, const Place& first) {
    const DType dtype = nest_.accesses[access].dtype;
    const Columns to = columns(first, access);
    Values vectors;
    for (int64_t i = 0; i < tile(); ++i)
      vectors.push_back(emitter_.load_vector(
          buffer_type(access), row_of(buffers_[access], buffer_type(access), emitter_.i64(i)), nullptr));
    vectors = transposed(emitter_, std::move(vectors));
    for (int64_t i = 0; i < tile(); ++i) {
      auto* offset = frame_.builder().CreateMul(to.stride, emitter_.i64(i));
      emitter_.store_vector(dtype, vectors[static_cast<size_t>(i)], emitter_.at(to.pointer, offset), nullptr);
    }
    stage(first, access, false);
  }

  NestFrame& frame_;
  FunctionEmitter& emitter_;
  const LoopNest& nest_;
  size_t column_axis_, row_axis_;
  Values buffers_;  // per access; null where it lies along the vectors
  llvm::Value* staging_ = nullptr;
  llvm::Value* row_count_ = nullptr;  // of the tile
  llvm::Value* column_count_ = nullptr;
  llvm::Value* is_whole_ = nullptr;
};

}  // namespace

bool is_transposed(const LoopNest& nest) {
  return std::ranges::any_of(nest.accesses, [](const Access& access) { return is_transposed(access); });
}

void emit_transposed(NestFrame& frame) { TransposedEmitter(frame).run(); }

}  // namespace ingot::kernel
