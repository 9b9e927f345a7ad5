#include "device/cpu/lower_block_product.h"

#include "device/cpu/block_product.h"
#include "device/cpu/plan_builder.h"
#include "device/cpu/static_graph.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kChunkBytes = int64_t{1} << 17;  // of weights, read by one chunk of one row

class BlockProductStep : public Step {
 public:
  BlockProductStep(BlockProduct product, Place x, Place weights, Place out)
      : product_(product), rows_(product.rows), x_(x), weights_(weights), out_(out) {
    product_.rows = std::min(rows_, BlockProduct::kMostRows);
    const BlockLayout& layout = product.layout;
    cost.flops = 2.0 * static_cast<double>(product.rows * layout.columns * layout.depth);
    cost.bytes = static_cast<double>(layout.panels() * layout.panel_bytes() +
                                     product.rows * (layout.columns + layout.depth) * 4);
  }

  void run(const Frame& frame) const override {
    BlockProduct product = product_;
    product.x = reinterpret_cast<const float*>(frame.at(x_.buffer, x_.offset));
    product.weights = frame.at(weights_.buffer, weights_.offset);
    product.out = reinterpret_cast<float*>(frame.at(out_.buffer, out_.offset));
    for (int64_t row = 0; row < rows_; row += product.rows) {
      product.rows = std::min(rows_ - row, BlockProduct::kMostRows);
      multiply(product, frame);
      product.x += product.rows * product.layout.depth;
      product.out += product.rows * product.layout.columns;
    }
  }

  std::string describe() const override {
    const BlockLayout& layout = product_.layout;
    return fmt::format("block product {} rows, {} columns, depth {} of {} bits in blocks of {}", rows_,
                       layout.columns, layout.depth, layout.bits, layout.block);
  }

  int64_t scratch_bytes() const override {
    return (own_offset() + product_.thread_floats()) * static_cast<int64_t>(sizeof(float));
  }

 private:
  void multiply(const BlockProduct& product, const Frame& frame) const {
    auto* shared = reinterpret_cast<float*>(frame.scratch_of(0));
    prepare_rows(product, shared);
    frame.pool.parallel_for(product.layout.panels(), grain(), [&](int64_t begin, int64_t end, int thread) {
      auto* own = reinterpret_cast<float*>(frame.scratch_of(thread)) + own_offset();
      multiply_panels(product, shared, own, begin, end);
    });
  }

  int64_t own_offset() const { return (product_.shared_floats() + 15) / 16 * 16; }
  int64_t grain() const {
    return rows_ > 1 ? 1 : std::max<int64_t>(1, kChunkBytes / product_.layout.panel_bytes());
  }

  BlockProduct product_;  // of the first rows
  int64_t rows_;
  Place x_;
  Place weights_;
  Place out_;
};

Place packed(PlanBuilder& builder, const BlockQuantised& weights, const BlockLayout& layout) {
  const int64_t bytes = layout.panels() * layout.panel_bytes();
  const std::string key = fmt::format("{} blocks of {}, {} bytes",
                                      builder.weight_name(builder.place(weights.value)), layout.block, bytes);
  auto pack = [&](std::span<std::byte> out) {
    builder.workshop().pool.parallel_for(layout.panels(), 1, [&](int64_t begin, int64_t end, int) {
      pack_block_panels(weights, layout, begin, end, out.data());
    });
  };
  const auto memory = builder.workshop().weights.get(key, static_cast<size_t>(bytes), pack);
  return {
      .buffer = builder.add_buffer(
          {.kind = Buffer::Kind::constant, .bytes = bytes, .memory = const_cast<std::byte*>(memory.data())})};
}

}  // namespace

bool lower_block_product(PlanBuilder& builder, int32_t n) {
  const Node& node = builder.node(n);
  const std::optional<BlockQuantised> weights = find_block_quantised(builder.graph(), node);
  if (!weights) return false;
  Place x = builder.place(node.operands[0]);
  if (!x.view.is_dense()) x = builder.dense_copy(x);
  const BlockProduct product{.layout = block_layout(*weights),
                             .rows = element_count(static_shape(node.types[0])) / weights->columns};
  const Place packed_weights = packed(builder, *weights, product.layout);
  const Place home = builder.allocate({n, 0});
  const bool direct = home.view.is_dense();
  const Place out = direct ? home : builder.allocate_arena(DType::f32, static_shape(node.types[0]));
  builder.add_step(std::make_unique<BlockProductStep>(product, x, packed_weights, out), node,
                   std::array{x, packed_weights}, std::span(&out, 1));
  if (!direct) add_copy(builder, node, out, home);
  builder.set_place({n, 0}, home);
  return true;
}

}  // namespace ingot::cpu
