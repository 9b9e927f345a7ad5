#include "device/cpu/winograd_step.h"

#include <algorithm>
#include <atomic>

#include "device/cpu/routines/simd.h"

namespace ingot::cpu {
namespace {

// Both sets of matrices of a chunk stay in the second-level cache.
constexpr int64_t kChunkFloats = 8192 * 16;
constexpr int64_t kLeastTiles = 24;  // with fewer, reading the weights takes longer than multiplying
constexpr size_t kMaxAccesses = 128;

// Looks at exponents, so that the processor's mode does not matter.
INGOT_SIMD bool all_finite(const uint32_t* bits, int64_t count) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t found = 0;
  for (int64_t i = 0; i < count; ++i) found |= (bits[i] & kExponent) == kExponent ? 1 : 0;
  return found == 0;
}

int64_t padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

WinogradStep::WinogradStep(KernelSet& kernels, WinogradWork work, std::unique_ptr<const ReferenceGroup> exact)
    : kernels_(kernels),
      work_(std::move(work)),
      exact_(std::move(exact)),
      product_(work_.types, work_.choice, work_.product) {
  const int64_t channels = work_.in_channels + work_.out_channels;
  const int64_t wanted = std::max(kLeastTiles, kChunkFloats / (kWinogradProducts * channels));
  chunks_ = std::max<int64_t>(1, work_.tiles / wanted);
  most_tiles_ = (work_.tiles + chunks_ - 1) / chunks_;
  input_kernel_ = kernels_.add(work_.input.nest);
  output_kernel_ = kernels_.add(work_.output.nest);
  for (int64_t tiles : {most_tiles_, most_tiles_ - 1})
    product_.want(kernels_, tile_heights(tiles, work_.choice));
  cost.flops = 2.0 * static_cast<double>(work_.tiles * kWinogradProducts * work_.in_channels) *
               static_cast<double>(work_.out_channels);
}

int64_t WinogradStep::matrix_bytes(int64_t channels) const {
  return padded(most_tiles_ * channels * static_cast<int64_t>(sizeof(float)));
}

TileProblem WinogradStep::product_of(int64_t tiles) const {
  TileProblem problem;
  problem.outer[0] = kWinogradProducts;
  problem.rows[kRowDims - 1] = plain_rows(tiles, work_.in_channels * 4);
  problem.columns = work_.out_channels;
  problem.depth = work_.in_channels;
  problem.a = {.slot = 0, .outer = {matrix_bytes(work_.in_channels)}};
  problem.b = {.slot = 1, .outer = {work_.weights_stride}};
  TileAccess store{.place = {.slot = 2, .outer = {matrix_bytes(work_.out_channels)}}, .column = 4};
  store.rows[kRowDims - 1] = work_.out_channels * 4;
  problem.accesses = {store};
  problem.sizes = {tiles, work_.out_channels};
  return problem;
}

void WinogradStep::link() {
  for (const int id : {input_kernel_, output_kernel_}) kernels_.require(id);
  input_ = kernels_.nest(input_kernel_);
  output_ = kernels_.nest(output_kernel_);
  product_.link(kernels_);
  for (int64_t less = 0; less < 2; ++less)
    if (most_tiles_ > less)
      products_[static_cast<size_t>(less)] = std::make_unique<TilePlan>(
          product_of(most_tiles_ - less), work_.types, work_.choice, product_.functions());
}

int64_t WinogradStep::scratch_bytes() const {
  const int64_t matrices =
      kWinogradProducts * (matrix_bytes(work_.in_channels) + matrix_bytes(work_.out_channels));
  int64_t product = 0;
  for (const auto& plan : products_)
    if (plan) product = std::max(product, plan->scratch_bytes());
  return matrices + padded(product);
}

void WinogradStep::run_nest(const WinogradNest& nest, kernel::KernelFunction function, const Frame& frame,
                            std::byte* matrices, int64_t channels, int64_t begin, int64_t end) const {
  std::array<std::byte*, kMaxAccesses> memory;
  // Tile `begin` is the first of the matrices.
  std::byte* matrix = matrices - begin * channels * static_cast<int64_t>(sizeof(float));
  for (size_t i = 0; i < nest.places.size(); ++i) {
    const Place& place = nest.places[i];
    memory[i] = place.is_none() ? matrix : frame.at(place.buffer, place.offset);
    if (place.is_none()) matrix += matrix_bytes(channels);
  }
  const kernel::KernelCall call{memory.data(), nest.sizes.data(), begin, end, nullptr};
  function(&call);
}

bool WinogradStep::run_chunk(const Frame& frame, int64_t begin, int64_t end, std::byte* scratch) const {
  std::byte* inputs = scratch;
  std::byte* outputs = inputs + kWinogradProducts * matrix_bytes(work_.in_channels);
  std::byte* rest = outputs + kWinogradProducts * matrix_bytes(work_.out_channels);
  run_nest(work_.input, input_, frame, inputs, work_.in_channels, begin, end);
  const TilePlan& product = *products_[end - begin == most_tiles_ ? 0 : 1];
  std::byte* memory[] = {inputs, frame.at(work_.weights.buffer, work_.weights.offset), outputs};
  product.run(memory, 0, product.chunks(), rest);
  for (int64_t i = 0; i < kWinogradProducts; ++i)
    if (!all_finite(reinterpret_cast<const uint32_t*>(outputs + i * matrix_bytes(work_.out_channels)),
                    (end - begin) * work_.out_channels))
      return false;
  run_nest(work_.output, output_, frame, outputs, work_.out_channels, begin, end);
  return true;
}

void WinogradStep::run(const Frame& frame) const {
  std::atomic<bool> finite = true;
  frame.pool.parallel_for(chunks_, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t chunk = begin; chunk < end; ++chunk)
      if (!run_chunk(frame, chunk_begin(chunk), chunk_begin(chunk + 1), frame.scratch_of(thread)))
        finite = false;
  });
  if (!finite) exact_->run(frame);
}

std::vector<int> WinogradStep::kernels() const {
  std::vector<int> all = product_.ids();
  all.insert(all.end(), {input_kernel_, output_kernel_});
  return all;
}

std::string WinogradStep::describe() const {
  return fmt::format("winograd 2x2 tiles {} in {} chunks, channels {} to {}", work_.tiles, chunks_,
                     work_.in_channels, work_.out_channels);
}

}  // namespace ingot::cpu
