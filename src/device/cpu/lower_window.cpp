#include "device/cpu/static_graph.h"
#include "device/cpu/tile_lowering.h"
#include "ir/window.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kFewChannels = 4;  // with so few, a row of the window is read as one run

// Convolution and pooling: what both say of a window that slides over channels-last data.
class WindowLowering {
 public:
  WindowLowering(PlanBuilder& builder, const Group& group)
      : builder_(builder),
        lowering_(builder, group),
        node_(builder.node(group.anchor)),
        out_(group.domain),
        spatial_(out_.size() - 2) {}

 protected:
  int64_t in_size(size_t axis) const { return x_.view.sizes[2 + axis]; }
  TileProblem& problem() { return lowering_.work().problem; }
  // Row dimension of a spatial axis: the last ones.
  size_t row_dim(size_t axis) const { return kRowDims - spatial_ + axis; }

  void read_channels_last(const Place& x) {
    const bool one_channel = x.view.sizes[1] == 1;
    x_ = one_channel || x.view.strides[1] == 1 ? x : builder_.dense_copy(x, channels_last(x.view.rank));
  }

  void set_windows(const WindowAttrs& attrs, const Shape& kernel) {
    for (size_t i = 0; i < spatial_; ++i)
      windows_.push_back(resolve_padding(attrs, window_axis(attrs, i, spatial_), in_size(i), kernel[i]));
    kernel_ = kernel;
  }

  void walk_axes() {
    lowering_.walks().assign(out_.size(), Walk{});
    lowering_.walks()[0] = {Walk::Kind::row, 0};
    lowering_.walks()[1] = {Walk::Kind::column, 0};
    const int64_t size = bit_width(x_.view.dtype) / 8;
    problem().rows[0] = plain_rows(out_[0], x_.view.strides[0] * size);
    for (size_t i = 0; i < spatial_; ++i) {
      lowering_.walks()[2 + i] = {Walk::Kind::row, row_dim(i)};
      problem().rows[row_dim(i)] = {.extent = out_[2 + i],
                                    .stride = x_.view.strides[2 + i] * size,
                                    .input = in_size(i),
                                    .taps = kernel_[i],
                                    .step = windows_[i].stride,
                                    .dilation = windows_[i].dilation,
                                    .before = windows_[i].pad_begin};
    }
  }

  void choose(int64_t columns) {
    problem().columns = columns;
    lowering_.work().choice =
        choose_tile(builder_.workshop().target, lowering_.work().types, problem().row_count(), columns);
    if (lowering_.work().types.kind != kernel::TileKind::dot) slide();
  }

  // Rows share their windows where that suits.
  void slide() {
    const RowAxis& axis = problem().rows[kRowDims - 1];
    const TileChoice sliding =
        choose_window_tile(builder_.workshop().target, lowering_.work().types,
                           {static_cast<int32_t>(axis.taps), static_cast<int32_t>(axis.step),
                            static_cast<int32_t>(axis.dilation)},
                           axis.extent, problem().columns);
    if (sliding.window.taps != 0) lowering_.work().choice = sliding;
  }

  PlanBuilder& builder_;
  TileLowering lowering_;
  const Node& node_;
  Shape out_;
  size_t spatial_;
  Place x_;
  Shape kernel_;
  std::vector<WindowAxis> windows_;
};

class ConvLowering : public WindowLowering {
 public:
  using WindowLowering::WindowLowering;

  void run() {
    quantised_ = find_quantised(builder_.graph(), node_);
    w_ = builder_.place(quantised_ ? quantised_->b.integers : node_.operands[1]);
    group_count_ = node_.as<ConvAttrs>().group;
    channels_ = w_.view.sizes[1];
    const int64_t columns = w_.view.sizes[0] / group_count_;
    depthwise_ = channels_ == 1 && columns == 1 && group_count_ > 1;
    read_channels_last(operand());
    set_windows(window_attrs(node_.as<ConvAttrs>()),
                {w_.view.sizes.begin() + 2, w_.view.sizes.begin() + w_.view.rank});
    folded_ = can_fold();
    if (folded_) pad_last_axis();
    walk_axes();
    if (folded_) fold_last_axis();
    if (depthwise_) lowering_.work().types.kind = kernel::TileKind::depthwise;
    problem().a.slot = lowering_.add_place(x_);
    problem().depth = depthwise_ ? 1 : channels_ * (folded_ ? kernel_.back() : 1);
    if (quantised_) problem().depth = (problem().depth + 3) / 4 * 4;
    problem().padding = static_cast<double>(zero_);
    choose(depthwise_ ? w_.view.sizes[0] : columns);
    place_weights();
    lowering_.finish(quantised_ ? in_real_numbers() : lowering_.biased_accumulator(2),
                     channels_last(static_cast<int>(out_.size())));
  }

 private:
  Place operand() {
    if (!quantised_) return lowering_.as_f32(builder_.place(node_.operands[0]));
    const Place x = lowering_.as_bytes(builder_.place(quantised_->a.integers));
    zero_ = lowering_.zero_of(quantised_->a);
    return x;
  }

  bool can_fold() const {
    return !depthwise_ && group_count_ == 1 && channels_ <= kFewChannels && kernel_.back() > 1 &&
           windows_.back().dilation == 1;
  }

  // Copies the input between two stripes of zeros, as wide as the windows reach.
  void pad_last_axis() {
    WindowAxis& axis = windows_.back();
    const size_t last = 1 + spatial_;
    const int64_t reach = (out_[last] - 1) * axis.stride + kernel_.back();
    Shape shape(x_.view.sizes.begin(), x_.view.sizes.begin() + x_.view.rank);
    if (axis.pad_begin == 0 && reach <= shape[last] && is_run(x_)) return;
    shape[last] = std::max(reach, shape[last] + axis.pad_begin);
    const Place padded = builder_.allocate_arena(x_.view.dtype, shape, channels_last(x_.view.rank));
    Place inside = padded;
    inside.view.sizes[last] = x_.view.sizes[last];
    inside.offset += axis.pad_begin * padded.view.strides[last] * bit_width(x_.view.dtype) / 8;
    add_fill(builder_, node_, padded, static_cast<double>(zero_));
    add_copy(builder_, node_, x_, inside);
    x_ = padded;
    axis.pad_begin = 0;
  }

  // Whether a row of the window is one run of memory.
  bool is_run(const Place& x) const { return x.view.strides[1 + spatial_] == x.view.sizes[1]; }

  void fold_last_axis() {
    RowAxis& axis = problem().rows[kRowDims - 1];
    axis.taps = 1;
  }

  PackSource source() const {
    PackSource source{.dtype = w_.view.dtype, .taps = {}, .depth = {}, .columns = {}};
    const size_t taps = folded_ ? spatial_ - 1 : spatial_;
    for (size_t i = 0; i < taps; ++i)
      source.taps[3 - taps + i] = {w_.view.sizes[2 + i], w_.view.strides[2 + i]};
    if (!depthwise_) source.depth[1] = {channels_, w_.view.strides[1]};
    if (folded_) source.depth[0] = {kernel_.back(), w_.view.strides[1 + spatial_]};
    source.columns = {depthwise_ ? w_.view.sizes[0] : w_.view.sizes[0] / group_count_, w_.view.strides[0]};
    return source;
  }

  void place_weights() {
    std::vector<int64_t> pieces;
    const int64_t groups = depthwise_ ? 1 : group_count_;
    for (int64_t g = 0; g < groups; ++g)
      pieces.push_back(g * problem().columns * w_.view.strides[0] * bit_width(w_.view.dtype) / 8);
    const int64_t piece = pack_layout(lowering_.work().types, lowering_.work().choice, source()).bytes();
    problem().b = lowering_.packed_b(w_, source(), pieces);
    if (groups == 1) return;
    problem().outer[0] = groups;
    problem().a.outer[0] = channels_ * 4;
    problem().b.outer[0] = piece;
    lowering_.split_columns(problem().columns);
  }

  int32_t in_real_numbers() {
    const bool biased = node_.operands.size() > 2 && !node_.operands[2].is_none();
    const Tensor* bias = biased ? constant_of(builder_.graph(), node_.operands[2]) : nullptr;
    return lowering_.dequantised(*quantised_, zero_, w_, source(), bias);
  }

  Place w_;
  std::optional<QuantisedContraction> quantised_;
  int64_t zero_ = 0;  // of the unsigned integers; what padding holds
  int64_t group_count_ = 1;
  int64_t channels_ = 1;  // of one group
  bool depthwise_ = false;
  bool folded_ = false;
};

class PoolLowering : public WindowLowering {
 public:
  using WindowLowering::WindowLowering;

  void run() {
    const bool max = node_.op == Op::MaxPool;
    dequantize_ = dequantize_before_pool(builder_.graph(), node_);
    read_channels_last(operand(builder_.place(dequantize_ ? dequantize_->operands[0] : node_.operands[0])));
    lowering_.work().types.kind = max ? kernel::TileKind::max : kernel::TileKind::sum;
    if (max) {
      set_windows(window_attrs(node_.as<MaxPoolAttrs>()), node_.as<MaxPoolAttrs>().kernel);
      problem().padding = lowest(x_.view.dtype);
    } else {
      set_windows(window_attrs(node_.as<AveragePoolAttrs>()), node_.as<AveragePoolAttrs>().kernel);
    }
    walk_axes();
    problem().a.slot = lowering_.add_place(x_);
    choose(out_[1]);
    lowering_.finish(max ? maximum() : average(), channels_last(static_cast<int>(out_.size())));
  }

 private:
  // Maxima of bytes are bytes.
  Place operand(const Place& x) {
    if (node_.op != Op::MaxPool || !is_integer(x.view.dtype)) return lowering_.as_f32(x);
    lowering_.work().types.a = x.view.dtype;
    return x;
  }

  static double lowest(DType dtype) {
    return dtype == DType::u8 ? 0 : dtype == DType::i8 ? -128 : -std::numeric_limits<double>::infinity();
  }

  int32_t maximum() {
    const int32_t most = lowering_.accumulator();
    if (dequantize_) return lowering_.exprs().dequantized(*dequantize_, most);
    const DType dtype = node_.types[0].dtype;
    if (is_floating(dtype)) return most;
    return lowering_.exprs().add(
        {.kind = kernel::ExprKind::op, .op = Op::Cast, .dtype = dtype, .args = {most}});
  }

  // Cells of window `o` that count.
  int64_t counted(size_t axis, int64_t o) const {
    const WindowAxis& w = windows_[axis];
    const bool padded = node_.as<AveragePoolAttrs>().count_include_pad;
    const int64_t low = padded ? -w.pad_begin : 0;
    const int64_t high = in_size(axis) + (padded ? w.pad_end : 0);
    int64_t count = 0;
    for (int64_t k = 0; k < kernel_[axis]; ++k) {
      const int64_t at = o * w.stride + k * w.dilation - w.pad_begin;
      count += at >= low && at < high ? 1 : 0;
    }
    return count;
  }

  // The sum over how many cells it is of, which is a table by output position.
  int32_t average() {
    Shape shape(out_.begin() + 2, out_.end());
    std::vector<float> table(1, 1.0F);
    for (size_t i = 0; i < spatial_; ++i) {
      std::vector<float> next;
      for (float outer : table)
        for (int64_t o = 0; o < shape[i]; ++o) next.push_back(outer * static_cast<float>(counted(i, o)));
      table = std::move(next);
    }
    const int32_t sum = lowering_.accumulator();
    const int32_t count =
        lowering_.exprs().add_load(builder_.constant(Tensor::of<float>(shape, table)), shape);
    return lowering_.exprs().add(
        {.kind = kernel::ExprKind::op, .op = Op::Div, .dtype = DType::f32, .args = {sum, count}});
  }

  const Node* dequantize_ = nullptr;  // whose integers are read
};

}  // namespace

bool reads_indices(const Graph& graph, const Node& max_pool) {
  const auto n = static_cast<int32_t>(&max_pool - graph.nodes().data());
  auto is_index = [&](Value v) { return v == Value{n, 1}; };
  for (const Node& node : graph.nodes())
    if (std::ranges::any_of(node.operands, is_index)) return true;
  return std::ranges::any_of(graph.outputs(), [&](const Port& port) { return is_index(port.value); });
}

void lower_conv(PlanBuilder& builder, const Group& group) { ConvLowering(builder, group).run(); }
void lower_pool(PlanBuilder& builder, const Group& group) { PoolLowering(builder, group).run(); }

}  // namespace ingot::cpu
