#include "device/cpu/static_graph.h"
#include "device/cpu/tile_lowering.h"
#include "ir/window.h"

namespace ingot::cpu {
namespace {

// The outputs along one axis that the same cells of the window reach: every `stride`-th, from `first` on.
struct Phase {
  int64_t first = 0;  // output position
  int64_t count = 0;  // output positions
  int64_t cell = 0;   // the first cell of the window; then every stride-th
  int64_t cells = 0;
  int64_t input =
      0;  // the input position that the first cell meets at the first output; the next cells come before it
};

Phase make_phase(int64_t number, const WindowAxis& axis, int64_t kernel, int64_t out) {
  Phase phase{.cell = number};
  const int64_t shifted = (number - axis.pad_begin) % axis.stride;
  phase.first = shifted < 0 ? shifted + axis.stride : shifted;
  phase.count = phase.first < out ? (out - phase.first + axis.stride - 1) / axis.stride : 0;
  phase.cells = (kernel - number + axis.stride - 1) / axis.stride;
  phase.input = (phase.first + axis.pad_begin - number) / axis.stride;
  return phase;
}

// A transposed convolution is a convolution for each phase of its strides.
class ConvTransposeLowering {
 public:
  ConvTransposeLowering(PlanBuilder& builder, const Group& group)
      : builder_(builder),
        group_(group),
        node_(builder.node(group.anchor)),
        out_(group.domain),
        spatial_(out_.size() - 2),
        w_(builder.place(node_.operands[1])),
        groups_(node_.as<ConvTransposeAttrs>().group),
        depthwise_(groups_ > 1 && w_.view.sizes[0] == groups_ && w_.view.sizes[1] == 1) {}

  void run() {
    TileLowering whole(builder_, group_);
    whole.walks() = walks(std::vector<Phase>(spatial_));
    x_ = whole.as_f32(builder_.place(node_.operands[0]));
    if (x_.view.sizes[1] != 1 && x_.view.strides[1] != 1)
      x_ = builder_.dense_copy(x_, channels_last(x_.view.rank));
    find_phases();
    const std::vector<int> order = channels_last(static_cast<int>(out_.size()));
    const Place out = whole.place_output(order);
    std::vector<Phase> chosen(spatial_);
    each_combination(0, chosen, [&] { add_phase(chosen, order, out); });
    whole.end_output(out);
  }

 private:
  size_t row_dim(size_t axis) const { return kRowDims - spatial_ + axis; }

  void find_phases() {
    const auto& attrs = node_.as<ConvTransposeAttrs>();
    const WindowAttrs window = window_attrs(attrs);
    for (size_t i = 0; i < spatial_; ++i) {
      const int64_t kernel = w_.view.sizes[2 + i], in = x_.view.sizes[2 + i];
      const int64_t extra = attrs.output_padding.empty() ? 0 : attrs.output_padding[i];
      const WindowAxis axis =
          resolve_transposed_padding(window, window_axis(window, i, spatial_), extra,
                                     !attrs.output_shape.empty(), in, kernel, out_[2 + i]);
      strides_.push_back(axis.stride);
      dilations_.push_back(axis.dilation);
      phases_.emplace_back();
      for (int64_t p = 0; p < axis.stride; ++p)
        phases_.back().push_back(make_phase(p, axis, kernel, out_[2 + i]));
    }
  }

  template <class F>
  void each_combination(size_t axis, std::vector<Phase>& chosen, F f) {
    if (axis == spatial_) return f();
    for (const Phase& phase : phases_[axis]) {
      chosen[axis] = phase;
      if (phase.count > 0) each_combination(axis + 1, chosen, f);
    }
  }

  std::vector<Walk> walks(const std::vector<Phase>& phases) const {
    std::vector<Walk> walks(out_.size());
    walks[0] = {.kind = Walk::Kind::row, .index = 0};
    walks[1] = {.kind = Walk::Kind::column};
    for (size_t i = 0; i < spatial_; ++i)
      walks[2 + i] = {.kind = Walk::Kind::row,
                      .index = row_dim(i),
                      .start = phases[i].first,
                      .step = strides_.empty() ? 1 : strides_[i]};
    return walks;
  }

  void add_phase(const std::vector<Phase>& phases, const std::vector<int>& order, const Place& out) {
    TileLowering lowering(builder_, group_);
    lowering.walks() = walks(phases);
    TileProblem& problem = lowering.work().problem;
    problem.rows[0] = plain_rows(out_[0], x_.view.strides[0] * 4);
    PackSource source{.dtype = w_.view.dtype, .taps = {}, .depth = {}, .columns = {}};
    Place weights = w_;
    for (size_t i = 0; i < spatial_; ++i) {
      const Phase& phase = phases[i];
      problem.rows[row_dim(i)] = {.extent = phase.count,
                                  .stride = x_.view.strides[2 + i] * 4,
                                  .input = x_.view.sizes[2 + i],
                                  .taps = phase.cells,
                                  .step = 1,
                                  .dilation = -dilations_[i],
                                  .before = -phase.input};
      source.taps[3 - spatial_ + i] = {phase.cells, w_.view.strides[2 + i] * strides_[i]};
      weights.offset += phase.cell * w_.view.strides[2 + i] * bit_width(w_.view.dtype) / 8;
    }
    set_channels(lowering, source);
    lowering.work().choice =
        choose_tile(builder_.workshop().target, lowering.work().types, problem.row_count(), problem.columns);
    problem.a.slot = lowering.add_place(x_);
    place_weights(lowering, weights, source);
    lowering.add_steps(lowering.biased_accumulator(2), order, out);
  }

  void set_channels(TileLowering& lowering, PackSource& source) const {
    TileProblem& problem = lowering.work().problem;
    const auto& w = w_.view;
    if (depthwise_) {
      lowering.work().types.kind = kernel::TileKind::depthwise;
      problem.columns = w.sizes[0];
      source.columns = {w.sizes[0], w.strides[0]};
      return;
    }
    problem.columns = w.sizes[1];
    problem.depth = w.sizes[0] / groups_;
    source.depth[1] = {problem.depth, w.strides[0]};
    source.columns = {w.sizes[1], w.strides[1]};
  }

  // One piece for each group.
  void place_weights(TileLowering& lowering, const Place& weights, const PackSource& source) const {
    TileProblem& problem = lowering.work().problem;
    const int64_t groups = depthwise_ ? 1 : groups_;
    std::vector<int64_t> pieces;
    for (int64_t g = 0; g < groups; ++g)
      pieces.push_back(g * problem.depth * w_.view.strides[0] * bit_width(w_.view.dtype) / 8);
    const int64_t piece = pack_layout(lowering.work().types, lowering.work().choice, source).bytes();
    problem.b = lowering.packed_b(weights, source, pieces);
    if (groups == 1) return;
    problem.outer[0] = groups;
    problem.a.outer[0] = problem.depth * 4;
    problem.b.outer[0] = piece;
    lowering.split_columns(problem.columns);
  }

  PlanBuilder& builder_;
  const Group& group_;
  const Node& node_;
  Shape out_;
  size_t spatial_;
  Place x_;
  Place w_;
  int64_t groups_;
  bool depthwise_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> dilations_;
  std::vector<std::vector<Phase>> phases_;  // by spatial axis
};

}  // namespace

// With a cell of the window for every phase, and no phases where cells lie apart.
bool is_tile_conv_transpose(const Graph& graph, const Node& node) {
  const auto& attrs = node.as<ConvTransposeAttrs>();
  const Shape w = static_shape(graph.type(node.operands[1]));
  for (size_t i = 0; i < attrs.strides.size(); ++i) {
    const bool lies_apart = !attrs.dilations.empty() && attrs.dilations[i] != 1;
    if (w[2 + i] < attrs.strides[i] || (lies_apart && attrs.strides[i] != 1)) return false;
  }
  return true;
}

void lower_conv_transpose(PlanBuilder& builder, const Group& group) {
  ConvTransposeLowering(builder, group).run();
}

}  // namespace ingot::cpu
