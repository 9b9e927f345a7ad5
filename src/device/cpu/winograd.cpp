#include "device/cpu/winograd.h"

#include <algorithm>

#include "device/cpu/group_exprs.h"
#include "device/cpu/groups.h"
#include "device/cpu/quantised.h"
#include "device/cpu/reference_group.h"
#include "device/cpu/static_graph.h"
#include "device/cpu/winograd_step.h"
#include "ir/numeric.h"
#include "ir/window.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kLeastChannels = 32;       // with fewer, transforming costs what it saves
constexpr int64_t kMostWeights = 256 * 256;  // transformed weights are 16/9 as large
constexpr int64_t kLeastTiles = 24;
constexpr size_t kCells = 4;  // of an input tile, per axis

using Matrix = std::array<std::array<int32_t, kCells>, kCells>;  // of expressions

// Writes a nest whose points are tiles: {image, tile row, tile column, channel}.
class TileNest {
 public:
  TileNest(int64_t images, int64_t rows, int64_t columns, int64_t channels) {
    for (int64_t extent : {images, rows, columns, channels}) nest_.axes.push_back({given(extent), false});
    nest_.vector_axis = 3;
    matrix_strides_ = {given(rows * columns * channels), given(columns * channels), given(channels),
                       kernel::Size::of(1)};
  }

  kernel::Size given(int64_t value) {
    if (value == 0 || value == 1) return kernel::Size::of(value);
    out_.sizes.push_back(value);
    return kernel::Size::given(static_cast<int32_t>(out_.sizes.size()) - 1);
  }

  int32_t add_access(DType dtype, std::vector<kernel::Size> strides, const Place& place) {
    nest_.accesses.push_back({dtype, std::move(strides)});
    out_.places.push_back(place);
    return static_cast<int32_t>(nest_.accesses.size()) - 1;
  }
  int32_t add_matrix() { return add_access(DType::f32, matrix_strides_, {}); }

  int32_t add(kernel::Expr expr) {
    nest_.exprs.push_back(std::move(expr));
    return static_cast<int32_t>(nest_.exprs.size()) - 1;
  }
  int32_t load(int32_t access) {
    return add({.kind = kernel::ExprKind::load, .dtype = DType::f32, .source = access});
  }
  int32_t plus(int32_t a, int32_t b) { return apply(Op::Add, a, b); }
  int32_t minus(int32_t a, int32_t b) { return apply(Op::Sub, a, b); }
  void store(int32_t access, int32_t expr) { nest_.stores.push_back({access, expr}); }

  WinogradNest take() {
    out_.nest = std::move(nest_);
    return std::move(out_);
  }

 private:
  int32_t apply(Op op, int32_t a, int32_t b) {
    return add({.kind = kernel::ExprKind::op, .op = op, .dtype = DType::f32, .args = {a, b}});
  }

  kernel::LoopNest nest_;
  WinogradNest out_;
  std::vector<kernel::Size> matrix_strides_;
};

Place moved(Place place, int64_t elements) {
  place.offset += elements * bit_width(place.view.dtype) / 8;
  return place;
}

// B^T along one axis: the inputs of the products from four input cells.
std::array<int32_t, kCells> input_transform(TileNest& nest, const std::array<int32_t, kCells>& d) {
  return {nest.minus(d[0], d[2]), nest.plus(d[1], d[2]), nest.minus(d[2], d[1]), nest.minus(d[1], d[3])};
}

// A^T along one axis: two outputs from four products.
std::array<int32_t, 2> output_transform(TileNest& nest, const std::array<int32_t, kCells>& m) {
  const int32_t sum = nest.plus(m[1], m[2]), difference = nest.minus(m[1], m[2]);
  return {nest.plus(m[0], sum), nest.minus(difference, m[3])};
}

// G g G^T: the 16 weights of the products from 3x3 cells.
std::array<double, kWinogradProducts> transformed(const double* g) {
  std::array<std::array<double, 3>, kCells> rows;
  for (size_t j = 0; j < 3; ++j) {
    const double a = g[j], b = g[3 + j], c = g[6 + j];
    rows[0][j] = a;
    rows[1][j] = (a + b + c) / 2;
    rows[2][j] = (a - b + c) / 2;
    rows[3][j] = c;
  }
  std::array<double, kWinogradProducts> out;
  for (size_t i = 0; i < kCells; ++i) {
    const double a = rows[i][0], b = rows[i][1], c = rows[i][2];
    out[i * 4] = a;
    out[i * 4 + 1] = (a + b + c) / 2;
    out[i * 4 + 2] = (a - b + c) / 2;
    out[i * 4 + 3] = c;
  }
  return out;
}

class WinogradLowering {
 public:
  WinogradLowering(PlanBuilder& builder, const Group& group)
      : builder_(builder),
        group_(group),
        node_(builder.node(group.anchor)),
        out_(group.domain),
        rows_(out_[2] / 2),
        columns_(out_[3] / 2) {}

  void run() {
    const Tensor& weights = *constant_of(builder_.graph(), node_.operands[1]);
    work_.tiles = out_[0] * rows_ * columns_;
    work_.in_channels = weights.shape()[1];
    work_.out_channels = weights.shape()[0];
    work_.choice = choose_tile(builder_.workshop().target, work_.types, work_.tiles, work_.out_channels);
    set_product();
    place_weights(weights);
    const Place x = padded_input();
    set_input(x);
    const Value value{group_.root(), 0};
    const std::vector<int> order = channels_last(4);
    const Place home = builder_.allocate(value, order);
    builder_.set_place(value, home);
    const bool direct = home.view.strides[1] == 1;
    const Place out = direct ? home : builder_.allocate_arena(home.view.dtype, out_, order);
    set_output(out);
    std::vector<Place> reads = {x, work_.weights};
    for (const Place& place : work_.output.places)
      if (!place.is_none() && place.buffer != out.buffer) reads.push_back(place);
    auto exact = std::make_unique<ReferenceGroup>(builder_, group_, out);
    for (const Place& place : exact->reads()) reads.push_back(place);
    auto step =
        std::make_unique<WinogradStep>(builder_.workshop().kernels, std::move(work_), std::move(exact));
    builder_.add_step(std::move(step), builder_.node(group_.root()), reads, std::span(&out, 1));
    if (!direct) add_copy(builder_, builder_.node(group_.root()), out, home);
  }

 private:
  void set_product() {
    work_.product.axes = {{kernel::Size::given(0), false}, {kernel::Size::given(1), false}};
    work_.product.vector_axis = 1;
    work_.product.accesses = {{DType::f32, {kernel::Size::of(1), kernel::Size::of(1)}}};
    work_.product.exprs = {{.kind = kernel::ExprKind::accumulator, .dtype = DType::f32}};
    work_.product.stores = {{0, 0}};
  }

  void place_weights(const Tensor& weights) {
    const int64_t in = work_.in_channels, out = work_.out_channels;
    PackSource source{.dtype = DType::f32, .taps = {}, .depth = {}, .columns = {out, 1}};
    source.depth[1] = {in, out};
    const PackLayout layout = pack_layout(work_.types, work_.choice, source);
    auto pack = [&](std::span<std::byte> packed) {
      std::vector<double> cells(9);
      std::vector<float> matrices(static_cast<size_t>(kWinogradProducts * in * out));
      const int64_t bytes = bit_width(weights.dtype()) / 8;
      for (int64_t i = 0; i < in * out; ++i) {
        decode_to_f64(weights.dtype(), weights.bytes().data() + i * 9 * bytes, 9, cells.data());
        const auto products = transformed(cells.data());
        const int64_t at = i % in * out + i / in;  // from [out][in] to [in][out]
        for (int64_t p = 0; p < kWinogradProducts; ++p)
          matrices[static_cast<size_t>(p * in * out + at)] =
              static_cast<float>(products[static_cast<size_t>(p)]);
      }
      for (int64_t p = 0; p < kWinogradProducts; ++p) {
        source.data = reinterpret_cast<const std::byte*>(matrices.data() + p * in * out);
        pack_panels(source, layout, 0, layout.panels(), packed.data() + p * layout.bytes());
      }
    };
    const std::string key = fmt::format(
        "{} winograd {}", builder_.weight_name(builder_.place(node_.operands[1])), layout.panel_columns);
    const auto packed =
        builder_.workshop().weights.get(key, static_cast<size_t>(kWinogradProducts * layout.bytes()), pack);
    work_.weights = {.buffer = builder_.add_buffer({.kind = Buffer::Kind::constant,
                                                    .bytes = static_cast<int64_t>(packed.size()),
                                                    .memory = const_cast<std::byte*>(packed.data())}),
                     .view = dense_view(DType::u8, {static_cast<int64_t>(packed.size())}, nullptr)};
    work_.weights_stride = layout.bytes();
  }

  // Channels-last, with the zeros around it in memory.
  Place padded_input() {
    const Place& x = builder_.place(node_.operands[0]);
    const WindowAttrs attrs = window_attrs(node_.as<ConvAttrs>());
    std::array<int64_t, 2> before = {};
    for (size_t i = 0; i < 2; ++i)
      before[i] = resolve_padding(attrs, window_axis(attrs, i, 2), x.view.sizes[2 + i], 3).pad_begin;
    const bool as_it_is = x.view.dtype == DType::f32 && x.view.strides[1] == 1 &&
                          x.view.sizes[2] == out_[2] + 2 && x.view.sizes[3] == out_[3] + 2;
    if (as_it_is) return x;
    const Place padded = builder_.allocate_arena(
        DType::f32, {x.view.sizes[0], x.view.sizes[1], out_[2] + 2, out_[3] + 2}, channels_last(4));
    Place inside = moved(padded, before[0] * padded.view.strides[2] + before[1] * padded.view.strides[3]);
    inside.view.sizes = x.view.sizes;
    add_fill(builder_, node_, padded, 0);
    add_copy(builder_, node_, x, inside);
    return padded;
  }

  void set_input(const Place& x) {
    TileNest nest(out_[0], rows_, columns_, work_.in_channels);
    const auto& s = x.view.strides;
    const std::vector<kernel::Size> strides = {nest.given(s[0]), nest.given(2 * s[2]), nest.given(2 * s[3]),
                                               kernel::Size::of(1)};
    Matrix cells, rows;
    for (size_t i = 0; i < kCells; ++i)
      for (size_t j = 0; j < kCells; ++j) {
        const int64_t at = static_cast<int64_t>(i) * s[2] + static_cast<int64_t>(j) * s[3];
        cells[i][j] = nest.load(nest.add_access(DType::f32, strides, moved(x, at)));
      }
    for (size_t j = 0; j < kCells; ++j) {
      const auto column = input_transform(nest, {cells[0][j], cells[1][j], cells[2][j], cells[3][j]});
      for (size_t i = 0; i < kCells; ++i) rows[i][j] = column[i];
    }
    for (size_t i = 0; i < kCells; ++i)
      for (int32_t product : input_transform(nest, rows[i])) nest.store(nest.add_matrix(), product);
    work_.input = nest.take();
  }

  void set_output(const Place& out) {
    TileNest nest(out_[0], rows_, columns_, work_.out_channels);
    Matrix products;
    for (auto& row : products)
      for (int32_t& product : row) product = nest.load(nest.add_matrix());
    std::array<std::array<int32_t, kCells>, 2> rows;
    for (size_t j = 0; j < kCells; ++j) {
      const auto pair =
          output_transform(nest, {products[0][j], products[1][j], products[2][j], products[3][j]});
      rows[0][j] = pair[0];
      rows[1][j] = pair[1];
    }
    for (int64_t dy = 0; dy < 2; ++dy) {
      const auto pair = output_transform(nest, rows[static_cast<size_t>(dy)]);
      for (int64_t dx = 0; dx < 2; ++dx) add_epilogue(nest, pair[static_cast<size_t>(dx)], dy, dx, out);
    }
    work_.output = nest.take();
  }

  // The place of output (dy, dx) of each tile.
  int32_t add_outer_access(TileNest& nest, const Place& place, const Shape& shape, int64_t dy, int64_t dx) {
    std::array<int64_t, 4> s = {};
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != 1) s[4 - shape.size() + i] = place.view.strides[i];
    const std::vector<kernel::Size> strides = {nest.given(s[0]), nest.given(2 * s[2]), nest.given(2 * s[3]),
                                               nest.given(s[1])};
    return nest.add_access(place.view.dtype, strides, moved(place, dy * s[2] + dx * s[3]));
  }

  void add_epilogue(TileNest& nest, int32_t sum, int64_t dy, int64_t dx, const Place& out) {
    GroupExprs exprs(builder_);
    int32_t root = exprs.add({.kind = kernel::ExprKind::accumulator, .dtype = DType::f32});
    root = with_bias(exprs, root);
    exprs.stand_for({group_.anchor, 0}, root);
    for (int32_t n : group_.nodes)
      if (n != group_.anchor) root = exprs.add_node(n);
    std::vector<int32_t> accesses, mapped;
    for (const GroupLoad& load : exprs.loads())
      accesses.push_back(add_outer_access(nest, load.place, load.shape, dy, dx));
    for (kernel::Expr expr : exprs.take_exprs()) {
      if (expr.kind == kernel::ExprKind::accumulator) {
        mapped.push_back(sum);
        continue;
      }
      for (int32_t& arg : expr.args) arg = mapped[static_cast<size_t>(arg)];
      if (expr.kind == kernel::ExprKind::load) expr.source = accesses[static_cast<size_t>(expr.source)];
      mapped.push_back(nest.add(std::move(expr)));
    }
    nest.store(add_outer_access(nest, out, out_, dy, dx), mapped[static_cast<size_t>(root)]);
  }

  int32_t with_bias(GroupExprs& exprs, int32_t sum) {
    if (node_.operands.size() < 3 || node_.operands[2].is_none()) return sum;
    Place bias = builder_.place(node_.operands[2]);
    bias.view.rank = 3;
    for (size_t i = 1; i < 3; ++i) {
      bias.view.sizes[i] = 1;
      bias.view.strides[i] = 0;
    }
    const int32_t load = exprs.add_load(bias, {work_.out_channels, 1, 1});
    return exprs.add({.kind = kernel::ExprKind::op, .op = Op::Add, .dtype = DType::f32, .args = {sum, load}});
  }

  PlanBuilder& builder_;
  const Group& group_;
  const Node& node_;
  Shape out_;
  int64_t rows_;  // of tiles, in an image
  int64_t columns_;
  WinogradWork work_;
};

bool is_one(const std::vector<int64_t>& list) {
  return std::ranges::all_of(list, [](int64_t n) { return n == 1; });
}

}  // namespace

bool suits_winograd(const Graph& graph, const Node& node) {
  if (node.op != Op::Conv || !constant_of(graph, node.operands[1]) || find_quantised(graph, node))
    return false;
  const auto& attrs = node.as<ConvAttrs>();
  const Shape w = static_shape(graph.type(node.operands[1])), out = static_shape(node.types[0]);
  if (w.size() != 4 || w[2] != 3 || w[3] != 3 || attrs.group != 1) return false;
  if (!is_one(attrs.strides) || !is_one(attrs.dilations)) return false;
  const int64_t tiles = out[0] * (out[2] / 2) * (out[3] / 2);
  return out[2] % 2 == 0 && out[3] % 2 == 0 && tiles >= kLeastTiles && w[0] >= kLeastChannels &&
         w[1] >= kLeastChannels && w[0] * w[1] <= kMostWeights;
}

void lower_winograd(PlanBuilder& builder, const Group& group) { WinogradLowering(builder, group).run(); }

}  // namespace ingot::cpu
