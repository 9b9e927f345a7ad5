#include "ir/decompose_rules.h"
#include "ir/small_constants.h"

namespace ingot {

// Scale and zero point that map the range of x, widened to hold 0, onto 0 ... 255. A tensor of zeros gets the
// scale 1.
std::vector<Value> decompose_dynamic_quantize(GraphBuilder& g, const Node&, std::span<const Value> in) {
  Value x = in[0], zero = scalar_like(g, x, 0), most = scalar_like(g, x, 255);
  Value low = g.min(g.reduce_min(x, Value(), {.keep_dims = false}), zero);
  Value high = g.max(g.reduce_max(x, Value(), {.keep_dims = false}), zero);
  Value range = g.sub(high, low);
  Value scale = g.select(g.equal(range, zero), scalar_like(g, x, 1), g.div(range, most));
  Value middle = g.clamp(g.sub(zero, g.div(low, scale)), zero, most);
  Value zero_point = g.cast(g.round(middle), {.to = DType::u8});
  return {g.quantize(x, scale, zero_point, {.to = DType::u8, .precision = g.dtype(x)}), scale, zero_point};
}

std::vector<Value> decompose_matmul_integer(GraphBuilder& g, const Node&, std::span<const Value> in) {
  auto centred = [&](size_t i) {
    Value x = g.cast(in[i], {.to = DType::i32});
    bool has_zero = i + 2 < in.size() && !in[i + 2].is_none();
    return has_zero ? g.sub(x, g.cast(in[i + 2], {.to = DType::i32})) : x;
  };
  return {g.matmul(centred(0), centred(1))};
}

}  // namespace ingot
