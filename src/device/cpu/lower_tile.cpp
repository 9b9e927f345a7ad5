#include "device/cpu/lower_tile.h"

#include <algorithm>

#include "device/cpu/block_weights.h"
#include "device/cpu/group_exprs.h"
#include "device/cpu/nest_types.h"
#include "device/cpu/plan_builder.h"
#include "device/cpu/static_graph.h"
#include "device/cpu/tile_lowering.h"
#include "device/cpu/winograd.h"
#include "ir/op_info.h"

namespace ingot::cpu {

// How the axes of the output of a contraction are walked: which is the columns, which are rows, which are
// outer.
TileLowering::TileLowering(PlanBuilder& builder, const Group& group)
    : builder_(builder), group_(group), exprs_(builder), domain_(group.domain) {
  work_.epilogue.axes = {{kernel::Size::given(0), false}, {kernel::Size::given(1), false}};
  work_.epilogue.vector_axis = 1;
}

int32_t TileLowering::add_place(const Place& place) {
  work_.places.push_back(place);
  return static_cast<int32_t>(work_.places.size()) - 1;
}

int32_t TileLowering::accumulator() {
  const DType dtype = is_integer(work_.types.a) ? DType::i32 : DType::f32;
  return exprs_.add({.kind = kernel::ExprKind::accumulator, .dtype = dtype, .args = {}});
}

// A load or the store at the walk of the tile.
TileAccess TileLowering::access(const Place& place, const Shape& shape) {
  const int64_t size = bit_width(place.view.dtype) / 8;
  TileAccess access{.place = {.slot = add_place(place)}};
  const size_t lead = domain_.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const int64_t stride = place.view.strides[i] * size;
    const Walk& walk = walks_.at(lead + i);
    switch (walk.kind) {
      case Walk::Kind::column: access.column = stride; break;
      case Walk::Kind::row:
        access.place.offset += walk.start * stride;
        access.rows[walk.index] = walk.step * stride;
        break;
      case Walk::Kind::outer: access.place.outer[walk.index] = stride; break;
      case Walk::Kind::none: break;
    }
  }
  if (group_columns_ > 0)  // channels are split into groups, which are the outer dimension 0
    access.place.outer[0] = access.column * group_columns_;
  return access;
}

bool TileLowering::fits(const Place& place, const Shape& shape) const {
  const size_t lead = domain_.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (walks_.at(lead + i).kind == Walk::Kind::column && shape[i] != 1) return place.view.strides[i] == 1;
  return true;
}

kernel::Access TileLowering::kernel_access(const TileAccess& access, DType dtype) {
  const bool by_row = std::ranges::any_of(access.rows, [](int64_t s) { return s != 0; });
  const auto row = kernel::Size::of(by_row ? 1 : 0);
  return {dtype, {row, kernel::Size::of(access.column != 0 ? 1 : 0)}};
}

void TileLowering::add_access(const Place& place, const Shape& shape) {
  const TileAccess tile = access(place, shape);
  work_.problem.accesses.push_back(tile);
  work_.epilogue.accesses.push_back(kernel_access(tile, place.view.dtype));
}

void TileLowering::finish(int32_t anchor_expr, const std::vector<int>& order) {
  const Place out = place_output(order);
  add_steps(anchor_expr, order, out);
  end_output(out);
}

Place TileLowering::place_output(const std::vector<int>& order) {
  const Place home = builder_.allocate({group_.root(), 0}, order);
  builder_.set_place({group_.root(), 0}, home);
  return fits(home, domain_) ? home : builder_.allocate_arena(home.view.dtype, domain_, order);
}

void TileLowering::end_output(const Place& out) {
  const Place home = builder_.place({group_.root(), 0});
  if (home.buffer != out.buffer) add_copy(builder_, builder_.node(group_.root()), out, home);
}

void TileLowering::add_steps(int32_t anchor_expr, const std::vector<int>& order, const Place& out) {
  exprs_.stand_for({group_.anchor, 0}, anchor_expr);
  int32_t root = anchor_expr;
  for (int32_t n : group_.nodes)
    if (n != group_.anchor) root = exprs_.add_node(n);
  root = exprs_.keep_needed(root);
  for (const GroupLoad& load : exprs_.loads())
    add_access(
        fits(load.place, load.shape) ? load.place : builder_.dense_copy(load.place, order_for(load, order)),
        load.shape);
  add_access(out, domain_);
  work_.epilogue.exprs = exprs_.take_exprs();
  work_.epilogue.stores = {{static_cast<int32_t>(work_.epilogue.accesses.size()) - 1, root}};
  work_.problem.sizes = {work_.problem.row_count(), work_.problem.columns};
  std::vector<Place> reads(work_.places.begin(), work_.places.end() - 1);
  auto step = std::make_unique<TileStep>(builder_.workshop().kernels, std::move(work_));
  builder_.add_step(std::move(step), builder_.node(group_.root()), reads, std::span(&out, 1));
}

// The order of the output for the axes that an operand has, which are the last ones.
std::vector<int> TileLowering::order_for(const GroupLoad& load, const std::vector<int>& order) {
  const int lead = static_cast<int>(order.size()) - static_cast<int>(load.shape.size());
  std::vector<int> own;
  for (int axis : order)
    if (axis >= lead) own.push_back(axis - lead);
  return own;
}

// b of a contraction: constants are packed once for the engine, others by a step.
TilePlace TileLowering::packed_b(const Place& from, PackSource source, const std::vector<int64_t>& pieces) {
  const PackLayout layout = pack_layout(work_.types, work_.choice, source);
  const int64_t bytes = layout.bytes() * static_cast<int64_t>(pieces.size());
  const Buffer& buffer = builder_.plan().buffers[static_cast<size_t>(from.buffer)];
  if (buffer.kind == Buffer::Kind::constant) {
    auto pack = [&](std::span<std::byte> out) {
      const std::shared_ptr<const std::byte> content = builder_.content(from);
      builder_.workshop().pool.parallel_for(
          layout.panels() * static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i) {
              PackSource piece = source;
              piece.data = content.get() + from.offset + pieces[static_cast<size_t>(i / layout.panels())];
              pack_panels(piece, layout, i % layout.panels(), i % layout.panels() + 1,
                          out.data() + i / layout.panels() * layout.bytes());
            }
          });
    };
    std::string key = fmt::format("{} {} {} {}x{}", builder_.weight_name(from), to_string(layout.dtype),
                                  layout.panel_columns, pieces.size(), bytes);
    for (const PackSource::Axis& axis : source.taps) key += fmt::format(" {}:{}", axis.extent, axis.stride);
    const std::span<const std::byte> packed =
        builder_.workshop().weights.get(key, static_cast<size_t>(bytes), pack);
    Place place = from;
    place.offset = 0;
    place.buffer = builder_.add_buffer(
        {.kind = Buffer::Kind::constant, .bytes = bytes, .memory = const_cast<std::byte*>(packed.data())});
    return {.slot = add_place(place)};
  }
  const Place place = builder_.allocate_arena(DType::u8, {bytes});
  auto step = std::make_unique<PackStep>(source, layout, pieces, from, place);
  builder_.add_step(std::move(step), builder_.node(group_.anchor), std::span(&from, 1), std::span(&place, 1));
  return {.slot = add_place(place)};
}

Place TileLowering::as_f32(const Place& place) {
  if (place.view.dtype == DType::f32) return place;
  Place out = builder_.allocate_arena(
      DType::f32, Shape(place.view.sizes.begin(), place.view.sizes.begin() + place.view.rank),
      axis_order(place.view));
  add_copy(builder_, builder_.node(group_.anchor), place, out);
  return out;
}

Place TileLowering::as_bytes(const Place& place) {
  work_.types.a = byte_type(builder_.workshop().target, place.view.dtype);
  work_.types.b = DType::i8;
  if (place.view.dtype == work_.types.a) return place;
  Place out = builder_.allocate_arena(
      DType::u8, Shape(place.view.sizes.begin(), place.view.sizes.begin() + place.view.rank),
      axis_order(place.view));
  add_shifted_copy(builder_, builder_.node(group_.anchor), place, out, 128);
  return out;
}

namespace {

// Calls f(column, element) for all of b.
template <class F>
void each_weight(const std::byte* data, const PackSource& source, F f) {
  const auto& t = source.taps;
  const auto& d = source.depth;
  for (int64_t c = 0; c < source.columns.extent; ++c)
    for (int64_t i = 0; i < t[0].extent * t[1].extent * t[2].extent; ++i) {
      const int64_t tap = i / (t[1].extent * t[2].extent) * t[0].stride +
                          i / t[2].extent % t[1].extent * t[1].stride + i % t[2].extent * t[2].stride;
      for (int64_t k = 0; k < d[0].extent * d[1].extent; ++k) {
        const int64_t at = tap + k / d[1].extent * d[0].stride + k % d[1].extent * d[1].stride;
        f(c, data[c * source.columns.stride + at]);
      }
    }
}

int32_t centred(DType dtype, std::byte weight) {
  const auto bits = static_cast<uint8_t>(weight);
  return dtype == DType::u8 ? bits - 128 : static_cast<int8_t>(bits);
}

}  // namespace

int64_t TileLowering::zero_of(const Quantised& a) const {
  const bool is_shifted = builder_.graph().type(a.integers).dtype != work_.types.a;
  return a.zero + (is_shifted ? 128 : 0);
}

Place TileLowering::column_sums(const Place& b, const PackSource& source) {
  const int64_t count = source.columns.extent;
  const Buffer buffer = builder_.plan().buffers[static_cast<size_t>(b.buffer)];
  auto sum = [&](std::span<std::byte> out) {
    auto* sums = reinterpret_cast<int32_t*>(out.data());
    each_weight(buffer.memory + b.offset, source,
                [&](int64_t c, std::byte weight) { sums[c] += centred(source.dtype, weight); });
  };
  const std::string key = builder_.weight_name(b) + " column sums";
  const auto sums = builder_.workshop().weights.get(key, static_cast<size_t>(count) * sizeof(int32_t), sum);
  const Buffer memory{.kind = Buffer::Kind::constant,
                      .bytes = static_cast<int64_t>(sums.size()),
                      .memory = const_cast<std::byte*>(sums.data())};
  return {.buffer = builder_.add_buffer(memory), .view = dense_view(DType::i32, {count}, nullptr)};
}

int32_t TileLowering::biased_accumulator(size_t bias) {
  const Node& node = builder_.node(group_.anchor);
  const int32_t sum = accumulator();
  if (node.operands.size() <= bias || node.operands[bias].is_none()) return sum;
  const int32_t load = load_columns(builder_.place(node.operands[bias]));
  return exprs_.add({.kind = kernel::ExprKind::op, .op = Op::Add, .dtype = DType::f32, .args = {sum, load}});
}

int32_t TileLowering::load_columns(Place vector) {
  const auto column = std::ranges::find(walks_, Walk::Kind::column, &Walk::kind) - walks_.begin();
  Shape shape = {vector.view.sizes[0]};
  for (size_t i = static_cast<size_t>(column) + 1; i < domain_.size(); ++i) {
    vector.view.sizes[shape.size()] = 1;
    vector.view.strides[shape.size()] = 0;
    shape.push_back(1);
  }
  vector.view.rank = static_cast<int>(shape.size());
  return exprs_.add_load(vector, std::move(shape));
}

int32_t TileLowering::without_zero(int32_t sum, int64_t zero, const Place& b, const PackSource& source) {
  if (zero == 0) return sum;
  const Place sums = column_sums(b, source);
  const auto* first =
      reinterpret_cast<const int32_t*>(builder_.plan().buffers[static_cast<size_t>(sums.buffer)].memory);
  std::vector<int32_t> added(first, first + source.columns.extent);
  for (int32_t& value : added) value = static_cast<int32_t>(zero * value);
  const int32_t columns =
      load_columns(builder_.constant(Tensor::of<int32_t>({source.columns.extent}, added)));
  return exprs_.add(
      {.kind = kernel::ExprKind::op, .op = Op::Sub, .dtype = DType::i32, .args = {sum, columns}});
}

int32_t TileLowering::dequantised(const QuantisedContraction& quantised, int64_t zero, const Place& b,
                                  const PackSource& source, const Tensor* bias) {
  const int64_t count = source.columns.extent;
  std::vector<double> scales = channel_values(quantised.b.scale, count);
  const double a_scale = channel_values(quantised.a.scale, 1)[0];
  const std::vector<double> given =
      bias ? channel_values(*bias, count) : std::vector<double>(scales.size(), 0.0);
  GroupExprs::Affine affine{
      .factor = {}, .addend = {}, .load = [this, count](const std::vector<double>& values) {
        const std::vector<float> rounded(values.begin(), values.end());
        return load_columns(builder_.constant(Tensor::of<float>({count}, rounded)));
      }};
  for (size_t c = 0; c < scales.size(); ++c) {
    affine.factor.push_back(a_scale * scales[c]);
    affine.addend.push_back(given[c]);
  }
  affine.base = exprs_.add({.kind = kernel::ExprKind::op,
                            .op = Op::Cast,
                            .dtype = DType::f32,
                            .args = {without_zero(accumulator(), zero, b, source)}});
  const int32_t real =
      exprs_.add({.kind = kernel::ExprKind::fma,
                  .dtype = DType::f32,
                  .args = {affine.base, affine.load(affine.factor), affine.load(affine.addend)}});
  exprs_.set_affine(real, std::move(affine));
  return real;
}

namespace {

bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

bool is_real_or_byte(DType dtype) { return is_real(dtype) || dtype == DType::u8 || dtype == DType::i8; }

bool all_of_type(const Graph& graph, const Node& node, bool (*accepts)(DType)) {
  for (Value v : node.operands) {
    if (v.is_none()) continue;
    const Type& type = graph.type(v);
    if (!is_static(type) || !accepts(type.dtype) || type.dims->size() > kMaxRank) return false;
    if (element_count(static_shape(type)) == 0) return false;
  }
  return is_static(node.types[0]) && element_count(static_shape(node.types[0])) > 0;
}

bool all_real(const Graph& graph, const Node& node) { return all_of_type(graph, node, is_real); }

bool is_window_rank(const Graph& graph, const Node& node) {
  const size_t rank = graph.type(node.operands[0]).dims->size();
  return rank >= 3 && rank <= 5;
}

}  // namespace

bool has_walkable_batch(const Graph& graph, const Node& node) {
  const auto rank = [&](size_t i) { return graph.type(node.operands[i]).dims->size(); };
  if (rank(0) < 2 || rank(1) < 2) return false;
  const Shape b = static_shape(graph.type(node.operands[1])), out = static_shape(node.types[0]);
  const auto is_long = [](int64_t size) { return size != 1; };
  const bool batched = std::any_of(b.begin(), b.end() - 2, is_long);
  const auto walked = static_cast<size_t>(std::count_if(out.begin(), out.end() - 2, is_long));
  return walked <= (batched ? kOuterDims : kRowDims - 1);
}

bool is_tile_anchor(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::MatMulInteger: return is_tile_matmul_integer(graph, node) && has_walkable_batch(graph, node);
    case Op::MatMul:
      return all_real(graph, node) && has_walkable_batch(graph, node) && !find_block_quantised(graph, node);
    case Op::Conv: return all_real(graph, node) && is_window_rank(graph, node);
    case Op::ConvTranspose:
      return all_real(graph, node) && is_window_rank(graph, node) && is_tile_conv_transpose(graph, node);
    case Op::AveragePool: return all_real(graph, node) && is_window_rank(graph, node);
    case Op::MaxPool:
      return all_of_type(graph, node, is_real_or_byte) && is_window_rank(graph, node) &&
             !reads_indices(graph, node);
    default: return false;
  }
}

bool accepts_epilogue(const Graph& graph, const Node&, const std::vector<int32_t>& nodes) {
  return std::ranges::all_of(
      nodes, [&](int32_t n) { return is_fusable_pointwise(graph, graph.nodes()[static_cast<size_t>(n)]); });
}

void lower_tile(PlanBuilder& builder, const Group& group) {
  switch (builder.node(group.anchor).op) {
    case Op::MatMulInteger:
    case Op::MatMul: return lower_matmul(builder, group);
    case Op::Conv:
      return suits_winograd(builder.graph(), builder.node(group.anchor)) ? lower_winograd(builder, group)
                                                                         : lower_conv(builder, group);
    case Op::ConvTranspose: return lower_conv_transpose(builder, group);
    default: return lower_pool(builder, group);
  }
}

}  // namespace ingot::cpu
