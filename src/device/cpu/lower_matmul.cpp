#include "device/cpu/derived_weights.h"
#include "device/cpu/static_graph.h"
#include "device/cpu/tile_lowering.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kPackRows = 32;        // with fewer, packing b costs more than it saves
constexpr int64_t kNarrowColumns = 128;  // b this narrow is as good as packed

// A matrix product [..., m, k] x [..., k, n] in the numbers of a tile problem.
class MatMulLowering {
 public:
  MatMulLowering(PlanBuilder& builder, const Group& group)
      : builder_(builder), lowering_(builder, group), node_(builder.node(group.anchor)), out_(group.domain) {}

  void run() {
    quantised_ = find_quantised(builder_.graph(), node_);
    place_operands();
    TileProblem& problem = lowering_.work().problem;
    problem.columns = out_.back();
    problem.depth = padded_depth();
    problem.a.slot = lowering_.add_place(a_);
    walk_axes();
    lowering_.work().choice =
        choose_tile(builder_.workshop().target, lowering_.work().types, problem.row_count(), problem.columns);
    place_b();
    lowering_.finish(result(), {});
  }

 private:
  bool in_integers() const { return quantised_ || node_.op == Op::MatMulInteger; }
  int64_t a_bytes() const { return in_integers() ? 1 : 4; }

  void place_operands() {
    if (!in_integers()) {
      a_ = rows_dense(lowering_.as_f32(builder_.place(node_.operands[0])));
      b_ = has_derived_weights(builder_.graph(), node_) ? builder_.derived(node_.operands[1])
                                                        : builder_.place(node_.operands[1]);
      return;
    }
    a_ = rows_dense(
        lowering_.as_bytes(builder_.place(quantised_ ? quantised_->a.integers : node_.operands[0])));
    b_ = builder_.place(quantised_ ? quantised_->b.integers : node_.operands[1]);
  }

  // Integers are multiplied four at a time; b has zeros where a has other things.
  int64_t padded_depth() const {
    const int64_t depth = a_.view.sizes[last(a_)];
    return in_integers() ? (depth + 3) / 4 * 4 : depth;
  }

  int32_t result() {
    if (quantised_)
      return lowering_.dequantised(*quantised_, lowering_.zero_of(quantised_->a), b_, source(), nullptr);
    const int32_t sum = lowering_.accumulator();
    if (node_.op != Op::MatMulInteger || node_.operands.size() < 3 || node_.operands[2].is_none()) return sum;
    GroupExprs& exprs = lowering_.exprs();
    auto op = [&](Op op, std::vector<int32_t> args) {
      return exprs.add(
          {.kind = kernel::ExprKind::op, .op = op, .dtype = DType::i32, .args = std::move(args)});
    };
    const int32_t zero = op(Op::Cast, {exprs.operand(node_.operands[2])});
    const int32_t sums = lowering_.load_columns(lowering_.column_sums(b_, source()));
    return op(Op::Sub, {sum, op(Op::Mul, {zero, sums})});
  }

  PackSource source() const {
    PackSource source{.dtype = b_.view.dtype, .taps = {}, .depth = {}, .columns = {}};
    source.depth[1] = {b_.view.sizes[last(b_) - 1], b_.view.strides[last(b_) - 1]};
    source.columns = {b_.view.sizes[last(b_)], b_.view.strides[last(b_)]};
    return source;
  }

  static size_t last(const Place& place) { return static_cast<size_t>(place.view.rank) - 1; }

  // Tiles read the depth of a row without gaps.
  Place rows_dense(const Place& a) {
    if (a.view.sizes[last(a)] == 1 || a.view.strides[last(a)] == 1) return a;
    return builder_.dense_copy(a);
  }

  bool b_is_batched() const {
    for (size_t i = 0; i + 2 < static_cast<size_t>(b_.view.rank); ++i)
      if (b_.view.sizes[i] != 1) return true;
    return false;
  }

  // The stride in bytes of an operand along an axis of the output's batch; 0 where it is repeated.
  static int64_t batch_stride(const Place& place, size_t axis, size_t rank) {
    const size_t lead = rank - static_cast<size_t>(place.view.rank);
    if (axis < lead || place.view.sizes[axis - lead] == 1) return 0;
    return place.view.strides[axis - lead] * bit_width(place.view.dtype) / 8;
  }

  void walk_axes() {
    TileProblem& problem = lowering_.work().problem;
    const size_t rank = out_.size();
    lowering_.walks().assign(rank, Walk{});
    lowering_.walks()[rank - 1] = {Walk::Kind::column, 0};
    add_row(rank - 2, kRowDims - 1, a_.view.strides[last(a_) - 1] * a_bytes());
    size_t next_row = kRowDims - 1, next_outer = 0;
    const bool batched = b_is_batched();
    for (size_t i = rank - 2; i-- > 0;) {
      if (out_[i] == 1) continue;
      if (!batched) {
        add_row(i, --next_row, batch_stride(a_, i, rank));
        continue;
      }
      lowering_.walks()[i] = {Walk::Kind::outer, next_outer};
      problem.outer[next_outer] = out_[i];
      problem.a.outer[next_outer++] = batch_stride(a_, i, rank);
    }
  }

  void add_row(size_t axis, size_t dim, int64_t stride) {
    lowering_.walks()[axis] = {Walk::Kind::row, dim};
    lowering_.work().problem.rows[dim] = plain_rows(out_[axis], stride);
  }

  bool use_b_as_it_is() const {
    // A stride of 0 between rows would say packed.
    const bool dense =
        b_.view.strides[last(b_)] == 1 && b_.view.strides[last(b_) - 1] != 0 && b_.view.dtype == DType::f32;
    const bool constant =
        builder_.plan().buffers[static_cast<size_t>(b_.buffer)].kind == Buffer::Kind::constant;
    return dense && !constant && (out_[out_.size() - 2] <= kPackRows || out_.back() <= kNarrowColumns);
  }

  void place_b() {
    TileProblem& problem = lowering_.work().problem;
    const size_t rank = out_.size();
    if (use_b_as_it_is()) {
      problem.b.slot = lowering_.add_place(b_);
      lowering_.work().types.packed = false;
      problem.b_stride = b_.view.strides[last(b_) - 1] * 4;
      for (size_t i = 0; i + 2 < rank; ++i)
        if (lowering_.walks()[i].kind == Walk::Kind::outer)
          problem.b.outer[lowering_.walks()[i].index] = batch_stride(b_, i, rank);
      return;
    }
    const std::vector<int64_t> pieces = b_pieces();
    const PackLayout layout = pack_layout(lowering_.work().types, lowering_.work().choice, source());
    problem.b = lowering_.packed_b(b_, source(), pieces);
    int64_t stride = layout.bytes();  // between packed matrices, the last axis fastest
    for (size_t i = rank - 2; i-- > 0;) {
      if (batch_size(i) == 1) continue;
      problem.b.outer[lowering_.walks()[i].index] = stride;
      stride *= batch_size(i);
    }
  }

  int64_t batch_size(size_t axis) const {
    const size_t lead = out_.size() - static_cast<size_t>(b_.view.rank);
    return axis < lead ? 1 : b_.view.sizes[axis - lead];
  }

  // Where each matrix of b begins, row-major over its batch.
  std::vector<int64_t> b_pieces() const {
    std::vector<int64_t> pieces = {0};
    for (size_t i = 0; i + 2 < static_cast<size_t>(b_.view.rank); ++i) {
      std::vector<int64_t> next;
      for (int64_t start : pieces)
        for (int64_t k = 0; k < b_.view.sizes[i]; ++k)
          next.push_back(start + k * b_.view.strides[i] * bit_width(b_.view.dtype) / 8);
      pieces = std::move(next);
    }
    return pieces;
  }

  PlanBuilder& builder_;
  TileLowering lowering_;
  const Node& node_;
  Shape out_;
  Place a_;
  Place b_;
  std::optional<QuantisedContraction> quantised_;
};

}  // namespace

void lower_matmul(PlanBuilder& builder, const Group& group) { MatMulLowering(builder, group).run(); }

}  // namespace ingot::cpu
