#include <memory_resource>
#include <random>

#include "base/thread_pool.h"
#include "device/cpu/pack.h"
#include "device/cpu/tile_plan.h"
#include "kernel/compiler.h"
#include "kernel/executable_memory.h"
#include "layer.h"

namespace ingot::benchmark {
namespace {

using kernel::TileKind;

struct Buffer {
  explicit Buffer(int64_t bytes) : memory(static_cast<size_t>(bytes) + 64) {}
  std::byte* data() { return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64; }
  std::vector<std::byte> memory;
};

kernel::LoopNest store_sums() {
  using kernel::Size;
  kernel::LoopNest nest;
  nest.axes = {{Size::of(0)}, {Size::of(0)}};
  nest.accesses = {{DType::f32, {Size::of(2), Size::of(1)}}};
  nest.exprs = {{.kind = kernel::ExprKind::accumulator, .args = {}}};
  nest.stores = {{.access = 0, .expr = 0}};
  nest.vector_axis = 1;
  return nest;
}

cpu::TileProblem problem_of(const Layer& layer, int64_t packed_group_bytes) {
  const int64_t pixel = layer.channels * layer.groups * 4;
  const bool depthwise = layer.is_depthwise();
  cpu::TileProblem problem;
  problem.outer = {1, 1, depthwise ? 1 : layer.groups};
  const auto axis = [&](int64_t extent, int64_t stride, int64_t input) {
    return cpu::RowAxis{.extent = extent,
                        .stride = stride,
                        .input = input,
                        .taps = layer.kernel,
                        .step = layer.stride,
                        .before = layer.pad};
  };
  if (!layer.is_matrix) problem.rows[2] = axis(layer.out_h(), layer.w * pixel, layer.h);
  problem.rows[3] = axis(layer.out_w(), pixel, layer.w);
  problem.columns = depthwise ? layer.groups : layer.columns;
  problem.depth = layer.channels;
  problem.a = {.slot = 0, .offset = 0, .outer = {0, 0, layer.channels * 4}};
  problem.b = {.slot = 1, .offset = 0, .outer = {0, 0, packed_group_bytes}};
  const int64_t row = layer.columns * layer.groups * 4;
  problem.accesses = {
      {{.slot = 2, .offset = 0, .outer = {0, 0, layer.columns * 4}}, {0, 0, layer.out_w() * row, row}, 4}};
  return problem;
}

kernel::TileWindow window_of(const Layer& layer) {
  return {.taps = static_cast<int32_t>(layer.kernel), .step = static_cast<int32_t>(layer.stride)};
}

cpu::PackSource source_of(const Layer& layer, const float* weights) {
  const int64_t window = layer.kernel * layer.kernel;
  cpu::PackSource source{
      .data = reinterpret_cast<const std::byte*>(weights), .taps = {}, .depth = {}, .columns = {}};
  if (layer.is_matrix) {
    source.depth[1] = {layer.channels, layer.columns};
    source.columns = {layer.columns, 1};
    return source;
  }
  source.taps[1] = {layer.kernel, layer.kernel};
  source.taps[2] = {layer.kernel, 1};
  source.depth[1] = {layer.channels, window};
  source.columns = {layer.is_depthwise() ? layer.groups : layer.columns, layer.channels * window};
  return source;
}

class Ours final : public Work {
 public:
  Ours(const Layer& layer, const Data& data, int threads)
      : layer_(layer),
        pool_(threads),
        a_(static_cast<int64_t>(data.a.size()) * 4),
        b_(0),
        out_(layer.rows() * layer.columns * layer.groups * 4) {
    const kernel::Target target{kernel::detect_isa_level().value()};
    const cpu::TileTypes types{.kind = layer.is_depthwise() ? TileKind::depthwise : TileKind::dot};
    auto choice = cpu::choose_tile(target, types, layer.rows(), layer.columns);
    if (layer.is_depthwise())
      choice = cpu::choose_window_tile(target, types, window_of(layer), layer.out_w(), layer.groups);
    cpu::TileFunctions functions = {};
    for (const auto& tile :
         cpu::tile_kernels(types, choice, store_sums(), cpu::tile_heights(problem_of(layer, 0), choice))) {
      code_.push_back(kernel::ExecutableMemory::copy(kernel::compiler().compile(tile, target)));
      functions.set(tile.rows, code_.back()->function<kernel::TileFunction>(), tile.rows);
    }
    std::copy(data.a.begin(), data.a.end(), reinterpret_cast<float*>(a_.data()));
    const int64_t group_bytes = pack(types, choice, data);
    plan_ = cpu::make_tile_driver(problem_of(layer, group_bytes), types, choice, functions);
    for (int i = 0; i < pool_.size(); ++i) scratch_.emplace_back(plan_->scratch_bytes());
  }

  void run() override {
    std::array<std::byte*, 3> memory{a_.data(), b_.data(), out_.data()};
    pool_.parallel_for(plan_->chunks(), 1, [&](int64_t begin, int64_t end, int thread) {
      plan_->run(memory.data(), begin, end, scratch_[static_cast<size_t>(thread)].data());
    });
  }

  std::vector<float> output() override {
    const auto* values = reinterpret_cast<const float*>(out_.data());
    return {values, values + layer_.rows() * layer_.columns * layer_.groups};
  }

 private:
  int64_t pack(const cpu::TileTypes& types, const cpu::TileChoice& choice, const Data& data) {
    const int64_t groups = layer_.is_depthwise() ? 1 : layer_.groups;
    const auto layout = cpu::pack_layout(types, choice, source_of(layer_, data.weights.data()));
    b_ = Buffer(layout.bytes() * groups);
    const int64_t elements = static_cast<int64_t>(data.weights.size()) / groups;
    for (int64_t g = 0; g < groups; ++g)
      cpu::pack_panels(source_of(layer_, data.weights.data() + g * elements), layout, 0, layout.panels(),
                       b_.data() + g * layout.bytes());
    return layout.bytes();
  }

  Layer layer_;
  ThreadPool pool_;
  std::vector<std::shared_ptr<const kernel::ExecutableMemory>> code_;
  Buffer a_, b_, out_;
  std::vector<Buffer> scratch_;
  std::unique_ptr<cpu::TileDriver> plan_;
};

}  // namespace

Data::Data(const Layer& layer) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  a.resize(static_cast<size_t>(layer.h * layer.w * layer.channels * layer.groups));
  weights.resize(
      static_cast<size_t>(layer.groups * layer.columns * layer.channels * layer.kernel * layer.kernel));
  for (float& value : a) value = uniform(random);
  for (float& value : weights) value = uniform(random);
}

std::unique_ptr<Work> ours(const Layer& layer, const Data& data, int threads) {
  return std::make_unique<Ours>(layer, data, threads);
}

}  // namespace ingot::benchmark
