#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

// Ops that rearrange an image, each a few movement ops.
namespace ingot {
namespace {

Value reshape_to(GraphBuilder& g, Value x, const std::vector<Value>& sizes) {
  return g.reshape(x, join(g, sizes), {.zero_is_zero = true});
}

int64_t block_size(OnnxNodeContext& c) {
  int64_t block = c.int_attr("blocksize");
  if (block < 1 || block > (int64_t{1} << 20))
    c.fail_invalid("a block size of at least 1", fmt::format("{}", block));
  return block;
}

// Channels become blocks of pixels; the mode says whether block or channel changes fastest.
std::vector<Value> depth_to_space(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), n = size_of(g, x, 0), h = size_of(g, x, 2), w = size_of(g, x, 3);
  int64_t block = block_size(c);
  Value b = int_list(g, {block}), channels = g.div(size_of(g, x, 1), int_list(g, {block * block}));
  DepthMode mode = c.enum_attr<DepthMode>("mode", "DCR", {{"DCR", DepthMode::dcr}, {"CRD", DepthMode::crd}});
  Value parts, moved;
  if (mode == DepthMode::dcr) {
    parts = reshape_to(g, x, {n, b, b, channels, h, w});
    moved = g.transpose(parts, {.permutation = {0, 3, 4, 1, 5, 2}});
  } else {
    parts = reshape_to(g, x, {n, channels, b, b, h, w});
    moved = g.transpose(parts, {.permutation = {0, 1, 4, 2, 5, 3}});
  }
  return {reshape_to(g, moved, {n, channels, g.mul(h, b), g.mul(w, b)})};
}

std::vector<Value> space_to_depth(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), n = size_of(g, x, 0), channels = size_of(g, x, 1);
  int64_t block = block_size(c);
  Value b = int_list(g, {block}), h = g.div(size_of(g, x, 2), b), w = g.div(size_of(g, x, 3), b);
  Value parts = reshape_to(g, x, {n, channels, h, b, w, b});
  Value moved = g.transpose(parts, {.permutation = {0, 3, 5, 1, 2, 4}});
  return {reshape_to(g, moved, {n, g.mul(channels, int_list(g, {block * block})), h, w})};
}

std::vector<int64_t> axes_between(int64_t from, int64_t to) {
  std::vector<int64_t> axes;
  for (int64_t i = from; i < to; ++i) axes.push_back(i);
  return axes;
}

// Each element of the first `length` comes from the mirrored position, the others stay.
std::vector<Value> reverse_sequence(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), one = scalar(g, DType::i64, 1);
  int64_t time = c.int_attr("time_axis", 0), batch = c.int_attr("batch_axis", 1);
  if (time + batch != 1 || time * batch != 0)
    c.fail_invalid("batch_axis and time_axis 0 and 1", fmt::format("{} and {}", batch, time));
  Value steps = g.range(scalar(g, DType::i64, 0), as_scalar(g, size_of(g, x, time)), one);
  Value at = g.unsqueeze(steps, int_list(g, {batch}));
  Value length = g.unsqueeze(c.in(1), int_list(g, {time}));
  Value from = g.select(g.less(at, length), g.sub(g.sub(length, one), at), at);
  if (g.rank(x) > 2) from = g.unsqueeze(from, int_list(g, axes_between(2, g.rank(x))));
  return {g.gather_elements(x, g.broadcast_to(from, g.shape_of(x)), {.axis = time})};
}

// Where sizes are odd the extra element is cut, or added, at the end.
std::vector<Value> center_crop_pad(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), target = cast_to(g, c.in(1), DType::i64), sizes = g.shape_of(x), axes;
  if (c.has_attr("axes")) {
    axes = int_list(g, c.ints_attr("axes"));
    sizes = g.gather(sizes, axes);
  }
  Value none = int_list(g, {0}), two = int_list(g, {2});
  Value start = g.div(g.max(g.sub(sizes, target), none), two);
  Value kept = g.slice(x, start, g.add(start, g.min(sizes, target)), axes, {});
  Value missing = g.max(g.sub(target, sizes), none), before = g.div(missing, two);
  return {g.pad(kept, join(g, {before, g.sub(missing, before)}), {}, axes)};
}

// The overlapping blocks of an image, added back up. The image with its pads is one long row, to which each
// element of a block is added at its place; then the pads go.
class Col2Im {
 public:
  explicit Col2Im(OnnxNodeContext& c) : c_(c), g_(c.g()), x_(c.in(0)) {
    auto count = g_.rank(c.in(1)) == 1 ? g_.dims(c.in(1))[0].value() : std::nullopt;
    if (!count || *count < 1 || *count > 16) c.fail_unsupported("an image of 1 to 16 axes", "another rank");
    n_ = *count;
    dilations_ = per_axis("dilations", 1, n_);
    strides_ = per_axis("strides", 1, n_);
    pads_ = per_axis("pads", 0, 2 * n_);
  }

  Value build() {
    std::vector<Value> extents, image;
    for (int64_t i = 0; i < n_; ++i) {
      image.push_back(element(c_.in(1), i));
      extents.push_back(
          g_.add(image.back(), number(pads_[static_cast<size_t>(i)] + pads_[static_cast<size_t>(n_ + i)])));
    }
    Value places = g_.reshape(positions(extents), int_list(g_, {-1}));
    Value block = g_.reduce_prod(c_.in(2), {}), channels = g_.div(size_of(g_, x_, 1), block);
    Value batch = size_of(g_, x_, 0), length = g_.mul(block, size_of(g_, x_, 2));
    Value columns = reshape_to(g_, x_, {batch, channels, length});
    Value row = g_.reduce_prod(join(g_, extents), {});
    Value empty = g_.broadcast_to(zero(g_, g_.dtype(x_)), join(g_, {batch, channels, row}));
    Value sums = g_.scatter_elements(empty, g_.broadcast_to(places, g_.shape_of(columns)), columns,
                                     {.axis = 2, .reduction = Reduction::add});
    std::vector<Value> sizes = {batch, channels};
    sizes.insert(sizes.end(), extents.begin(), extents.end());
    Value start = int_list(g_, {pads_.begin(), pads_.begin() + n_});
    return g_.slice(reshape_to(g_, sums, sizes), start, g_.add(start, join(g_, image)),
                    int_list(g_, axes_between(2, n_ + 2)), {});
  }

 private:
  std::vector<int64_t> per_axis(std::string_view name, int64_t missing, int64_t count) {
    auto given = c_.ints_attr(name);
    if (given.empty()) given.assign(static_cast<size_t>(count), missing);
    if (static_cast<int64_t>(given.size()) != count)
      c_.fail_invalid(fmt::format("{} {}", count, name), fmt::format("{}", given.size()));
    return given;
  }

  Value number(int64_t value) { return g_.constant(Tensor::of<int64_t>({}, {value})); }
  Value element(Value vector, int64_t i) { return g_.gather(vector, number(i)); }

  // 0, step, 2 * step ... along one of the 2n axes of the table of positions.
  Value along(Value count, int64_t step, int64_t axis) {
    Value steps = g_.mul(g_.range(number(0), count, number(1)), number(step));
    auto others = axes_between(0, 2 * n_);
    others.erase(others.begin() + axis);
    return g_.unsqueeze(steps, int_list(g_, others));
  }

  // Place in the row of each element of each block, over [block axes..., steps along each axis...].
  Value positions(const std::vector<Value>& extents) {
    Value place, stride = number(1);
    for (int64_t i = n_; i-- > 0;) {
      auto k = static_cast<size_t>(i);
      Value block = element(c_.in(2), i);
      Value reach = g_.mul(g_.sub(block, number(1)), number(dilations_[k]));
      Value steps = g_.div(g_.sub(g_.sub(extents[k], reach), number(1)), number(strides_[k]));
      Value at = g_.add(along(block, dilations_[k], i), along(g_.add(steps, number(1)), strides_[k], n_ + i));
      Value offset = g_.mul(at, stride);
      place = place.is_none() ? offset : g_.add(place, offset);
      stride = g_.mul(stride, extents[k]);
    }
    return place;
  }

  OnnxNodeContext& c_;
  GraphBuilder& g_;
  Value x_;
  int64_t n_ = 0;
  std::vector<int64_t> dilations_, strides_, pads_;
};

std::vector<Value> col2im(OnnxNodeContext& c) { return {Col2Im(c).build()}; }

}  // namespace

void add_onnx_layout(OnnxOpTable& t) {
  t[{"", "DepthToSpace"}] = {.import = depth_to_space};
  t[{"", "SpaceToDepth"}] = {.import = space_to_depth};
  t[{"", "ReverseSequence"}] = {.import = reverse_sequence, .first_opset = 10};
  t[{"", "CenterCropPad"}] = {.import = center_crop_pad, .first_opset = 18};
  t[{"", "Col2Im"}] = {.import = col2im, .first_opset = 18};
}

}  // namespace ingot
