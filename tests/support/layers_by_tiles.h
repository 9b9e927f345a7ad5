#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "device/cpu/pack.h"
#include "device/cpu/tile_plan.h"
#include "support/compiled_tiles.h"
#include "support/nest_builder.h"

// Convolutions, products and pooling through tiles and their drivers together, on every instruction set level
// of this processor, against plain loops in double.
namespace ingot::cpu {

using kernel::TileKind;

// Levels whose code for such tiles differs. Tile registers work in memory too, which every processor with
// VNNI can run.
inline std::vector<kernel::Target> targets(const TileTypes& types) {
  using enum kernel::IsaLevel;
  std::vector<kernel::Target> result;
  const auto most = kernel::detect_isa_level();
  if (types.a != DType::i8 || types.kind != TileKind::dot)
    for (const auto level : {avx2, avx512, avx512_vnni})
      if (most && level <= *most) result.push_back({level});
  if (types.kind != TileKind::dot || !is_integer(types.a)) return result;
  if (most >= avx512_vnni) result.push_back({amx, true});
  if (most >= amx) result.push_back({amx});
  return result;
}

// A convolution of channels-last activations [n][h][w][groups * channels] with weights
// [groups * columns][channels][kh][kw]; a matrix product is one of 1 x 1 over 1 x rows.
struct Layer {
  TileKind kind = TileKind::dot;
  DType a = DType::f32;
  DType b = DType::f32;
  int64_t n = 1, h = 1, w = 1, channels = 1, groups = 1, columns = 1;
  int64_t kh = 1, kw = 1, stride = 1, dilation = 1, pad = 0;
  bool packed = true;

  int64_t out_h() const { return (h + 2 * pad - dilation * (kh - 1) - 1) / stride + 1; }
  int64_t out_w() const { return (w + 2 * pad - dilation * (kw - 1) - 1) / stride + 1; }
  int64_t rows() const { return n * out_h() * out_w(); }
  bool is_dot() const { return kind == TileKind::dot; }
  int64_t out_columns() const { return is_dot() ? groups * columns : channels; }
};

// Values are small integers over a power of two, so that they are exact in every type.
struct Data {
  std::vector<float> a, weights, bias, residual;

  explicit Data(const Layer& layer) {
    std::mt19937 random(7);
    const auto fill = [&](int64_t count, int low, int high, float scale) {
      std::vector<float> values(static_cast<size_t>(count));
      for (float& value : values)
        value = static_cast<float>(std::uniform_int_distribution<int>(low, high)(random)) * scale;
      return values;
    };
    const bool integer = is_integer(layer.a);
    const int lowest = layer.a == DType::u8 ? 0 : layer.a == DType::i8 ? -128 : -64;
    a = fill(layer.n * layer.h * layer.w * layer.channels * layer.groups, lowest, integer ? lowest + 255 : 64,
             integer ? 1.0f : 1.0f / 64);
    weights = fill(layer.out_columns() * (layer.is_dot() ? layer.channels : 1) * layer.kh * layer.kw,
                   integer ? -128 : -64, integer ? 127 : 64, integer ? 1.0f : 1.0f / 64);
    bias = fill(layer.out_columns(), -64, 64, 1.0f / 32);
    residual = fill(layer.rows() * layer.out_columns(), -64, 64, 1.0f / 16);
  }
};

template <class T>
std::vector<std::byte> bytes_of_type(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T) + 64);
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}
inline std::vector<std::byte> encoded(DType dtype, const std::vector<float>& values) {
  if (dtype == DType::u8) return bytes_of_type<uint8_t>(values);
  return dtype == DType::i8 ? bytes_of_type<int8_t>(values) : bytes_of_type<float>(values);
}

// What the window of one output gives, before the epilogue.
inline double window_result(const Layer& layer, const Data& data, int64_t row, int64_t column) {
  const int64_t ow = row % layer.out_w(), oh = row / layer.out_w() % layer.out_h();
  const int64_t n = row / (layer.out_w() * layer.out_h());
  const int64_t all = layer.channels * layer.groups;
  double result = layer.kind == TileKind::max ? -std::numeric_limits<double>::infinity() : 0;
  for (int64_t y = 0; y < layer.kh; ++y)
    for (int64_t x = 0; x < layer.kw; ++x) {
      const int64_t ih = oh * layer.stride + y * layer.dilation - layer.pad;
      const int64_t iw = ow * layer.stride + x * layer.dilation - layer.pad;
      if (ih < 0 || ih >= layer.h || iw < 0 || iw >= layer.w) continue;
      const float* pixel = data.a.data() + ((n * layer.h + ih) * layer.w + iw) * all;
      const int64_t tap = y * layer.kw + x;
      const auto weight = [&](int64_t k) {
        const int64_t depth = layer.is_dot() ? layer.channels : 1;
        return static_cast<double>(
            data.weights[static_cast<size_t>((column * depth + k) * layer.kh * layer.kw + tap)]);
      };
      if (layer.is_dot()) {
        for (int64_t k = 0; k < layer.channels; ++k)
          result += static_cast<double>(pixel[column / layer.columns * layer.channels + k]) * weight(k);
      } else if (layer.kind == TileKind::depthwise) {
        result += static_cast<double>(pixel[column]) * weight(0);
      } else if (layer.kind == TileKind::sum) {
        result += static_cast<double>(pixel[column]);
      } else {
        result = std::isnan(pixel[column]) || std::isnan(result)
                     ? std::nan("")
                     : std::max(result, static_cast<double>(pixel[column]));
      }
    }
  return result;
}

// relu(acc * 0.5 + bias[column]) + residual[row, column]
inline kernel::LoopNest epilogue(DType accumulator) {
  NestBuilder b({0, 0}, {});
  int32_t sum = b.add({.kind = kernel::ExprKind::accumulator, .dtype = accumulator, .args = {}});
  if (accumulator != DType::f32) sum = b.op(Op::Cast, {sum}, DType::f32);
  const int32_t scaled = b.op(Op::Mul, {sum, b.real(0.5)});
  const int32_t biased = b.op(Op::Add, {scaled, b.load(DType::f32, {0, 1})});
  const int32_t relu = b.op(Op::Relu, {biased});
  const int32_t result = b.op(Op::Add, {relu, b.load(DType::f32, {2, 1})});
  b.store(DType::f32, {2, 1}, result);
  return b.nest;
}

inline TileProblem problem_of(const Layer& layer, int64_t packed_group_bytes) {
  const int64_t a_size = bit_width(layer.a) / 8, pixel = layer.channels * layer.groups * a_size;
  TileProblem problem;
  problem.outer = {1, 1, layer.is_dot() ? layer.groups : 1};
  problem.rows[0] = plain_rows(layer.n, layer.h * layer.w * pixel);
  problem.rows[2] = {.extent = layer.out_h(),
                     .stride = layer.w * pixel,
                     .input = layer.h,
                     .taps = layer.kh,
                     .step = layer.stride,
                     .dilation = layer.dilation,
                     .before = layer.pad};
  problem.rows[3] = {.extent = layer.out_w(),
                     .stride = pixel,
                     .input = layer.w,
                     .taps = layer.kw,
                     .step = layer.stride,
                     .dilation = layer.dilation,
                     .before = layer.pad};
  problem.columns = layer.is_dot() ? layer.columns : layer.channels;
  problem.depth = layer.is_dot() ? layer.channels : 1;
  problem.a = {.slot = 0, .outer = {0, 0, layer.channels * a_size}};
  problem.b = {.slot = 1, .outer = {0, 0, packed_group_bytes}};
  problem.b_stride = layer.columns * 4;
  if (layer.kind == TileKind::max) problem.padding = -std::numeric_limits<double>::infinity();
  const int64_t row = layer.out_columns() * 4, group = layer.columns * 4;
  const std::array<int64_t, kRowDims> rows{layer.out_h() * layer.out_w() * row, 0, layer.out_w() * row, row};
  problem.accesses = {{{.slot = 2, .outer = {0, 0, group}}, {}, 4},
                      {{.slot = 3, .outer = {0, 0, group}}, rows, 4},
                      {{.slot = 4, .outer = {0, 0, group}}, rows, 4}};
  return problem;
}

inline PackSource source_of(const Layer& layer, const std::byte* weights, int64_t group) {
  const int64_t depth = layer.is_dot() ? layer.channels : 1, window = layer.kh * layer.kw;
  const int64_t columns = layer.is_dot() ? layer.columns : layer.channels;
  const DType dtype = is_integer(layer.b) ? layer.b : DType::f32;
  return {.dtype = dtype,
          .data = weights + group * columns * depth * window * bit_width(dtype) / 8,
          .taps = {{{1, 0}, {layer.kh, layer.kw}, {layer.kw, 1}}},
          .depth = {{{1, 0}, {depth, window}}},
          .columns = {columns, depth * window}};
}

class Prepared {
 public:
  Prepared(const Layer& layer, const Data& data, const TileTypes& types, const TileChoice& choice,
           const kernel::Target& target)
      : layer_(layer), data_(data), types_(types), choice_(choice) {
    const auto functions = testing::compile_tiles(target, types_, choice_,
                                                  epilogue(is_integer(layer.a) ? DType::i32 : DType::f32),
                                                  tile_heights(problem_of(layer, 0), choice_));
    const int64_t group_bytes = layer.packed ? pack() : transpose();
    a_ = encoded(layer.a, data.a);
    bias_ = encoded(DType::f32, data.bias);
    residual_ = encoded(DType::f32, data.residual);
    plan_ = make_tile_driver(problem_of(layer, group_bytes), types_, choice_, functions);
  }

  // Runs the chunks one by one, the last first where asked; gives the output and checks what surrounds it.
  std::vector<float> run(bool backwards) {
    constexpr float kUntouched = 12345.0f;
    const auto count = static_cast<size_t>(layer_.rows() * layer_.out_columns());
    std::vector<float> out(count + 32, kUntouched);
    const auto slot = [](std::vector<std::byte>& bytes) { return bytes.data(); };
    std::array<std::byte*, 5> memory{slot(a_), slot(b_), slot(bias_), slot(residual_),
                                     reinterpret_cast<std::byte*>(out.data() + 16)};
    std::vector<std::byte> scratch(static_cast<size_t>(plan_->scratch_bytes()) + 64);
    void* start = scratch.data();
    size_t space = scratch.size();
    auto* aligned =
        static_cast<std::byte*>(std::align(64, static_cast<size_t>(plan_->scratch_bytes()), start, space));
    for (int64_t i = 0; i < plan_->chunks(); ++i) {
      const int64_t chunk = backwards ? plan_->chunks() - 1 - i : i;
      plan_->run(memory.data(), chunk, chunk + 1, aligned);
    }
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(out[i], kUntouched);
      EXPECT_EQ(out[out.size() - 1 - i], kUntouched);
    }
    return {out.begin() + 16, out.end() - 16};
  }

 private:
  int64_t pack() {
    const auto weights = encoded(is_integer(layer_.b) ? layer_.b : DType::f32, data_.weights);
    const PackLayout layout = pack_layout(types_, choice_, source_of(layer_, weights.data(), 0));
    const int64_t groups = layer_.is_dot() ? layer_.groups : 1;
    b_.resize(static_cast<size_t>(layout.bytes() * groups));
    for (int64_t g = 0; g < groups; ++g)
      pack_panels(source_of(layer_, weights.data(), g), layout, 0, layout.panels(),
                  b_.data() + g * layout.bytes());
    return layout.bytes();
  }

  // Rows of columns, without a byte behind the last.
  int64_t transpose() {
    std::vector<float> rows(data_.weights.size());
    for (int64_t c = 0; c < layer_.columns; ++c)
      for (int64_t k = 0; k < layer_.channels; ++k)
        rows[static_cast<size_t>(k * layer_.columns + c)] =
            data_.weights[static_cast<size_t>(c * layer_.channels + k)];
    b_.resize(rows.size() * sizeof(float));
    std::memcpy(b_.data(), rows.data(), b_.size());
    return 0;
  }

  Layer layer_;
  const Data& data_;
  TileTypes types_;
  TileChoice choice_;
  std::vector<std::byte> a_, b_, bias_, residual_;
  std::unique_ptr<TileDriver> plan_;
};

inline double expected_of(const Layer& layer, const Data& data, int64_t row, int64_t column) {
  const double x = window_result(layer, data, row, column) * 0.5 +
                   static_cast<double>(data.bias[static_cast<size_t>(column)]);
  const double relu = std::isnan(x) ? x : std::max(x, 0.0);
  return relu + static_cast<double>(data.residual[static_cast<size_t>(row * layer.out_columns() + column)]);
}

// The forms of tiles that can compute a layer.
inline std::vector<TileChoice> choices_for(const Layer& layer, const TileTypes& types,
                                           const kernel::Target& target) {
  const int64_t columns = layer.is_dot() ? layer.columns : layer.channels;
  std::vector<TileChoice> choices{choose_tile(target, types, layer.rows(), columns)};
  const kernel::TileWindow window{static_cast<int32_t>(layer.kw), static_cast<int32_t>(layer.stride),
                                  static_cast<int32_t>(layer.dilation)};
  const TileChoice sliding = choose_window_tile(target, types, window, layer.out_w(), columns);
  if (sliding.window.taps != 0) choices.push_back(sliding);
  return choices;
}

// Every output, or a spread of them where there are many.
inline void expect_layer(const Layer& layer, const Data& data, const TileChoice& choice,
                         const TileTypes& types, const kernel::Target& target) {
  Prepared prepared(layer, data, types, choice, target);
  const auto out = prepared.run(false);
  const double tolerance = 3e-6 * std::sqrt(static_cast<double>(layer.channels * layer.kh * layer.kw));
  for (size_t i = 0; i < out.size(); i += 1 + out.size() / 5000) {
    const auto at = static_cast<int64_t>(i);
    const double expected = expected_of(layer, data, at / layer.out_columns(), at % layer.out_columns());
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(out[i])) << i;
    } else if (std::isinf(expected)) {
      ASSERT_EQ(out[i], expected) << i;
    } else {
      ASSERT_NEAR(out[i], expected, tolerance * (1 + std::abs(expected))) << i;
    }
  }
  const auto again = prepared.run(true);
  EXPECT_EQ(std::memcmp(out.data(), again.data(), out.size() * sizeof(float)), 0);
}

inline void expect_layer(const Layer& layer, const Data& data) {
  const TileTypes types{layer.kind, layer.a, layer.b, layer.packed};
  for (const auto& target : targets(types))
    for (const TileChoice& choice : choices_for(layer, types, target)) {
      SCOPED_TRACE(fmt::format("{}, window of {}", kernel::to_string(target.level), choice.window.taps));
      expect_layer(layer, data, choice, types, target);
    }
}
inline void expect_layer(const Layer& layer) { expect_layer(layer, Data(layer)); }

}  // namespace ingot::cpu
