#include "runtime/memory_testing.h"

#include <cmath>
#include <cstring>
#include <new>

#include "ingot/graph.h"
#include "runtime/test_engines.h"

namespace ingot {
namespace {

constexpr int64_t kWidth = 64, kHidden = 256;

// Numbers between -1 and 1 that look random and are the same everywhere.
Tensor numbers(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.mutable_data<float>()) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return tensor;
}

}  // namespace

Graph perceptron_graph() {
  GraphBuilder g("perceptron");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("batch", 1, 512), kWidth}));
  const Value hidden = g.relu(g.matmul(x, g.constant(numbers({kWidth, kHidden}, 1))));
  g.output("y", g.softmax(g.matmul(hidden, g.constant(numbers({kHidden, kWidth}, 2)))));
  return std::move(g).finish();
}

std::vector<Profile> perceptron_profiles() {
  return {{"small", {}, {{"batch", {1, 2, 16}}}}, {"large", {}, {{"batch", {17, 64, 512}}}}};
}

Tensor perceptron_input(int64_t batch) { return numbers({batch, kWidth}, 3); }

Tensor perceptron_output(int64_t batch) {
  auto engine = open_graph(perceptron_graph(), {}, {.device = "reference"});
  return engine->create_context()->run({{"x", perceptron_input(batch)}}).at("y").tensor();
}

double difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.data<float>().size(); ++i) {
    const double x = a.data<float>()[i], y = b.data<float>()[i];
    const double error = std::abs(x - y) / std::max(std::abs(y), 1e-3);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

Block::Block(size_t bytes)
    : size_(bytes),
      data_(static_cast<std::byte*>(
          ::operator new (std::max<size_t>(bytes, 1), std::align_val_t{kMemoryAlignment}))) {
  std::memset(data_, 0xFF, bytes);
}

Block::~Block() { ::operator delete (data_, std::align_val_t{kMemoryAlignment}); }

void* CountingAllocator::allocate(size_t size, size_t alignment, MemoryPurpose purpose) noexcept {
  if (made_++ == refused_) return nullptr;
  void* memory = ::operator new (size, std::align_val_t{alignment}, std::nothrow);
  std::memset(memory, 0xFF, size);
  ++live_;
  bytes_ += static_cast<int64_t>(size);
  ++purposes_.at(static_cast<size_t>(purpose));
  least_alignment_ = std::min<size_t>(least_alignment_, alignment);
  return memory;
}

void CountingAllocator::deallocate(void* memory, size_t size) noexcept {
  --live_;
  bytes_ -= static_cast<int64_t>(size);
  ::operator delete (memory, std::align_val_t{64});
}

}  // namespace ingot
