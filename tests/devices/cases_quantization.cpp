// Quantisation: per tensor, per slice and per block.
#include <cmath>
#include <limits>

#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

enum class Grain { tensor, axis, block };

struct Form {
  Shape x;
  int64_t axis = 1;
  Grain grain = Grain::tensor;
  int64_t block = 0;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {{{37}, 0},
                                        {{5, 67}},
                                        {{3, 9, 17}, 1, Grain::axis},
                                        {{5, 19}, 0, Grain::axis},
                                        {{5, 19}, -1, Grain::axis},
                                        {{8, 64}, 1, Grain::block, 32},
                                        {{64, 9}, 0, Grain::block, 16},
                                        {{3, 40}, 1, Grain::block, 32}};
  return all;
}

Shape scale_shape(const Form& f) {
  if (f.grain == Grain::tensor) return {};
  const auto axis = static_cast<size_t>(f.axis < 0 ? f.axis + static_cast<int64_t>(f.x.size()) : f.axis);
  if (f.grain == Grain::axis) return {f.x[axis]};
  Shape shape = f.x;
  shape[axis] = (shape[axis] + f.block - 1) / f.block;
  return shape;
}

std::string name_of(const char* op, DType from, DType to, const Form& f, bool zero) {
  return fmt::format("{} {} to {} {} scale {}{}", op, to_string(from), to_string(to), to_string(f.x),
                     to_string(scale_shape(f)), zero ? " zero_point" : "");
}

void add_quantize(Table& table, DType to, const Form& f, bool zero) {
  auto build = [=](GraphMaker& m) {
    const Value x = m.tensor(DType::f32, f.x, {-20, 20}),
                scale = m.tensor(DType::f32, scale_shape(f), {0.05, 0.3});
    const Value zero_point = zero ? m.tensor(to, scale_shape(f), {0, 5}) : Value();
    return std::vector<Value>{
        m.g.quantize(x, scale, zero_point, {.to = to, .axis = f.axis, .block_size = f.block})};
  };
  table.push_back({name_of("quantize", DType::f32, to, f, zero), build, Closeness::exact,
                   plain_and_one_more(table.size())});
}

void add_dequantize(Table& table, DType from, DType to, const Form& f, bool zero) {
  auto build = [=](GraphMaker& m) {
    const bool nibble = bit_width(from) == 4;
    const Value x = m.tensor(from, f.x, nibble ? Range{-8, 15} : Range{-128, 127});
    const Value scale = m.tensor(to, scale_shape(f), {0.05, 0.3});
    const Value zero_point = zero ? m.tensor(from, scale_shape(f), {0, 5}) : Value();
    return std::vector<Value>{
        m.g.dequantize(x, scale, zero_point, {.to = to, .axis = f.axis, .block_size = f.block})};
  };
  table.push_back({name_of("dequantize", from, to, f, zero), build, Closeness::rounding,
                   plain_and_one_more(table.size())});
}

// What block-quantised weights become: a dequantised constant as the second operand of a product.
void add_quantized_products(Table& table) {
  for (DType weight : {DType::u4, DType::i4, DType::u8, DType::i8})
    for (int64_t rows : {1, 5, 33})
      for (int64_t block : {16, 32, 128}) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.tensor(DType::f32, {rows, 256});
          const Value w = m.constant(random_tensor(m.random, weight, {48, 256}, {0, 7}));
          const Value scale = m.constant(random_tensor(m.random, DType::f32, {48, 256 / block}, {0.01, 0.1}));
          const Value dense = m.g.dequantize(w, scale, {}, {.axis = 1, .block_size = block});
          return std::vector<Value>{m.g.matmul(x, m.g.transpose(dense))};
        };
        table.push_back({fmt::format("matmul of {} blocks of {} rows {}", to_string(weight), block, rows),
                         build,
                         Closeness::sums,
                         {Source::plain, Source::symbolic, Source::computed}});
      }
}

// Quantised layers as exporters write them.
void add_quantized_convolutions(Table& table) {
  for (bool per_channel : {false, true})
    for (DType activation : {DType::u8, DType::i8})
      for (int64_t group : {1, 8}) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.g.quantize(m.tensor(DType::f32, {1, 8, 9, 11}),
                                       m.constant(tensor_of(DType::f32, {}, {0.0625})),
                                       m.constant(tensor_of(activation, {}, {3})), {.to = activation});
          const Value w = m.constant(random_tensor(m.random, DType::i8, {16, 8 / group, 3, 3}, {-127, 127}));
          const Value w_scale =
              m.constant(per_channel ? random_tensor(m.random, DType::f32, {16}, {0.005, 0.02})
                                     : tensor_of(DType::f32, {}, {0.01}));
          const Value real = m.g.dequantize(x, m.constant(tensor_of(DType::f32, {}, {0.0625})),
                                            m.constant(tensor_of(activation, {}, {3})));
          const Value real_w = m.g.dequantize(w, w_scale, {}, {.axis = 0});
          return std::vector<Value>{m.g.relu(
              m.g.conv(real, real_w, m.tensor(DType::f32, {16}), {.pads = {1, 1, 1, 1}, .group = group}))};
        };
        table.push_back({fmt::format("quantised conv {}{} group {}", to_string(activation),
                                     per_channel ? " per channel" : "", group),
                         build, Closeness::composed});
      }
}

Value number(GraphMaker& m, DType dtype, double value) { return m.constant(tensor_of(dtype, {}, {value})); }

Value quantize_and_back(GraphMaker& m, Value real, DType dtype) {
  const Value scale = number(m, DType::f32, 0.0625), zero = number(m, dtype, 3);
  return m.g.dequantize(m.g.quantize(real, scale, zero, {.to = dtype}), scale, zero);
}

Value quantized(GraphMaker& m, DType dtype, const Shape& shape) {
  return quantize_and_back(m, m.tensor(DType::f32, shape), dtype);
}

Value quantized_weight(GraphMaker& m, const Shape& shape, int64_t axis) {
  const Value bytes = m.constant(random_tensor(m.random, DType::i8, shape, {-127, 127}));
  const Shape channels = {shape[static_cast<size_t>(axis)]};
  return m.g.dequantize(bytes, m.constant(random_tensor(m.random, DType::f32, channels, {0.0005, 0.002})), {},
                        {.axis = axis});
}

// Bytes meet bytes: all but the activations is constant. Depths and rows that fill registers, and that do
// not.
void add_products_of_bytes(Table& table) {
  for (DType activation : {DType::u8, DType::i8}) {
    table.push_back({fmt::format("quantised matmul {} of many axes", to_string(activation)),
                     [=](GraphMaker& m) {
                       const Value x = quantized(m, activation, {2, 3, 2, 2, 3, 5});
                       return std::vector<Value>{m.g.matmul(x, quantized_weight(m, {5, 7}, 1))};
                     },
                     Closeness::composed});
    table.push_back({fmt::format("quantised matmul {} of zeros", to_string(activation)),
                     [=](GraphMaker& m) {
                       const Value none = m.g.mul(m.tensor(DType::f32, {3, 5}), number(m, DType::f32, 0));
                       const Value x = quantize_and_back(m, none, activation);
                       return std::vector<Value>{m.g.matmul(x, quantized_weight(m, {5, 17}, 1))};
                     },
                     Closeness::exact});
    for (const auto& [rows, depth, columns] :
         {std::array<int64_t, 3>{1, 64, 64}, {7, 37, 20}, {45, 200, 100}})
      table.push_back(
          {fmt::format("quantised matmul {} {} x {} x {}", to_string(activation), rows, depth, columns),
           [=](GraphMaker& m) {
             const Value x = quantized(m, activation, {rows, depth});
             return std::vector<Value>{m.g.matmul(x, quantized_weight(m, {depth, columns}, 1))};
           },
           Closeness::composed});
    for (const int64_t stride : {1, 2})
      for (const int64_t channels : {3, 16, 72})
        table.push_back({fmt::format("quantised conv {} of {} channels stride {}", to_string(activation),
                                     channels, stride),
                         [=](GraphMaker& m) {
                           const Value x = quantized(m, activation, {1, channels, 9, 11});
                           const Value w = quantized_weight(m, {24, channels, 3, 3}, 0);
                           const Value bias = m.constant(random_tensor(m.random, DType::f32, {24}, {-1, 1}));
                           return std::vector<Value>{m.g.relu(
                               m.g.conv(x, w, bias, {.strides = {stride, stride}, .pads = {1, 1, 1, 1}}))};
                         },
                         Closeness::composed});
  }
}

// Numbers half of which lie in the middle between two integers, and infinities and NaN among them.
Value halves(GraphMaker& m, const Shape& shape) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Value x = m.g.mul(m.g.cast(m.tensor(DType::i32, shape, {-300, 800}), {.to = DType::f32}),
                          number(m, DType::f32, 0.03125));
  auto replaced = [&](Value from, double which, double by) {
    return m.g.select(m.g.equal(x, number(m, DType::f32, which)), number(m, DType::f32, by), from);
  };
  return replaced(replaced(replaced(x, 0.5, kInf), -0.5, -kInf), 1, std::nan(""));
}

// With scales known in advance.
void add_known_scales(Table& table) {
  for (DType to : {DType::u8, DType::i8})
    for (double zero : {0.0, 3.0})
      for (double scale : {0.0625, 0.0471}) {
        auto build = [=](GraphMaker& m) {
          const Value q = m.g.quantize(halves(m, {7, 133}), number(m, DType::f32, scale), number(m, to, zero),
                                       {.to = to});
          return std::vector<Value>{q, m.g.dequantize(q, number(m, DType::f32, 0.5), number(m, to, zero))};
        };
        table.push_back({fmt::format("quantize to {} by {} zero {}", to_string(to), scale, zero), build,
                         Closeness::exact});
      }
}

// Scales are powers of two, so that all sums are exact and bytes equal.
void add_quantized_blocks(Table& table) {
  for (double zero : {0.0, 5.0})
    for (int64_t columns : {16, 70}) {
      auto build = [=](GraphMaker& m) {
        auto real = [&](Value q, double scale, double z) {
          return m.g.dequantize(q, number(m, DType::f32, scale), number(m, DType::u8, z));
        };
        const Value w = m.constant(random_tensor(m.random, DType::i8, {columns, 12, 3, 3}, {-127, 127}));
        const Value real_w = m.g.dequantize(w, number(m, DType::f32, 0x1p-9), {}, {.axis = 0});
        const Value x = real(m.tensor(DType::u8, {1, 12, 9, 11}, {0, 255}), 0x1p-6, 128);
        auto bytes = [&](Value v, double z) {
          return m.g.quantize(v, number(m, DType::f32, 0x1p-5), number(m, DType::u8, z), {.to = DType::u8});
        };
        const Value conv = bytes(m.g.conv(x, real_w, {}, {.pads = {1, 1, 1, 1}}), 128);
        const Value residual = real(m.tensor(DType::u8, {1, columns, 9, 11}, {0, 255}), 0x1p-5, zero);
        const Value sum = m.g.add(real(conv, 0x1p-5, 128), residual);
        return std::vector<Value>{bytes(m.g.relu(sum), zero)};
      };
      table.push_back({fmt::format("quantised conv, residual and relu, {} channels zero {}", columns, zero),
                       build, Closeness::exact});
    }
}

void add_quantized_pools(Table& table) {
  for (DType dtype : {DType::u8, DType::i8})
    for (int64_t channels : {5, 40}) {
      auto build = [=](GraphMaker& m) {
        const Value x = m.g.dequantize(m.tensor(dtype, {2, channels, 9, 11}, {-128, 255}),
                                       number(m, DType::f32, 0.047), number(m, dtype, 7));
        const Value y = m.g.max_pool(x, {.kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}})[0];
        return std::vector<Value>{
            m.g.quantize(y, number(m, DType::f32, 0.047), number(m, dtype, 7), {.to = dtype})};
      };
      table.push_back({fmt::format("max_pool of dequantised {} of {} channels", to_string(dtype), channels),
                       build, Closeness::exact});
      auto with_indices = [=](GraphMaker& m) {
        const Value x = m.g.dequantize(m.tensor(dtype, {1, channels, 8, 6}), number(m, DType::f32, 0.5), {});
        const auto both = m.g.max_pool(x, {.kernel = {2, 2}, .strides = {2, 2}});
        return std::vector<Value>{both[0], both[1]};
      };
      table.push_back(
          {fmt::format("max_pool with indices of dequantised {} of {} channels", to_string(dtype), channels),
           with_indices, Closeness::exact});
    }
}

}  // namespace

void add_quantization_cases(Table& table) {
  for (const Form& f : forms())
    for (bool zero : {false, true}) {
      for (DType to : {DType::u8, DType::i8, DType::i16, DType::u4, DType::i4, DType::f8e4m3fn})
        add_quantize(table, to, f, zero);
      for (DType from : {DType::u8, DType::i8, DType::i32, DType::u4, DType::i4})
        for (DType to : {DType::f32, DType::f16}) add_dequantize(table, from, to, f, zero);
    }
  for (const Shape& shape : {Shape{37}, Shape{5, 67}, Shape{2, 3, 9}}) {
    auto dynamic = [=](GraphMaker& m) {
      const auto parts = m.g.dynamic_quantize(m.tensor(DType::f32, shape, {-3, 5}));
      return std::vector<Value>(parts.begin(), parts.end());
    };
    table.push_back(
        {fmt::format("dynamic_quantize {}", to_string(shape)), dynamic, Closeness::rounding, all_sources()});
  }
  add_quantized_products(table);
  add_quantized_convolutions(table);
  add_products_of_bytes(table);
  add_known_scales(table);
  add_quantized_blocks(table);
  add_quantized_pools(table);
}

}  // namespace ingot::devices
