// The application owns the memory that contexts compute in: one block, as large as the shapes at hand need,
// for two contexts that do not run at once.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "ingot/builder.h"
#include "ingot/runtime.h"

namespace {

// The sums of the rows of softmax(x * weights), which are all 1.
ingot::Graph row_sums() {
  ingot::GraphBuilder g("row_sums");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {ingot::Dim::symbol("rows"), 64}));
  ingot::Value weights = g.constant(ingot::Tensor::of({64, 256}, std::vector<float>(64 * 256, 1)));
  ingot::Value axis = g.constant(ingot::Tensor::of<int64_t>({1}, {1}));
  g.output("sums", g.reduce_sum(g.softmax(g.matmul(x, weights)), axis, {.keep_dims = false}));
  return std::move(g).finish();
}

std::vector<std::byte> build() {
  ingot::BuilderConfig config;
  config.profiles = {{"rows", {}, {{"rows", {1, 16, 1024}}}}};
  return ingot::build_engine(row_sums(), config);
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<void, Free>;

Block allocate(size_t bytes) {
  const size_t a = ingot::kMemoryAlignment;
  return Block(std::aligned_alloc(a, (bytes + a - 1) / a * a));
}

// A context and what it reads and writes.
class Worker {
 public:
  Worker(const ingot::Engine& engine, int64_t rows)
      : context_(engine.create_context({.name = {}, .allocation = ingot::AllocationStrategy::user_managed})),
        x_(static_cast<size_t>(rows) * 64, 0.5f),
        sums_(static_cast<size_t>(rows)) {
    context_->set_shape("x", {rows, 64});
    context_->bind_input<float>("x", x_);
    context_->bind_output<float>("sums", sums_);
  }
  size_t need() const { return context_->memory_size_for_shapes(); }  // 0 before all shapes are set
  void use(void* memory, size_t bytes) { context_->set_memory(memory, bytes); }
  void enqueue(ingot::Stream& stream) { context_->enqueue(stream); }
  float total() const {
    float total = 0;
    for (float sum : sums_) total += sum;
    return total;
  }

 private:
  std::unique_ptr<ingot::Context> context_;
  std::vector<float> x_, sums_;
};

}  // namespace

int main() try {
  const auto bytes = build();
  ingot::StderrLogger logger;
  ingot::RuntimeConfig config;
  config.recorder = std::make_shared<ingot::ErrorRecorder>();  // takes errors, which else go to the logger
  const auto engine = ingot::Runtime(logger, config).open(bytes, nullptr, "row sums");
  Worker small(*engine, 4), large(*engine, 512);
  if (small.need() < large.need() && large.need() < engine->memory_size())
    std::cout << "smaller shapes need less\n";

  // One stream runs one inference at a time, so the larger of the two needs is enough.
  const size_t need = std::max(small.need(), large.need());
  const Block block = allocate(need);
  small.use(block.get(), need);
  large.use(block.get(), need);
  ingot::Stream stream;
  for (int i = 0; i < 10; ++i) {
    small.enqueue(stream);
    large.enqueue(stream);
  }
  stream.synchronize();
  std::cout << small.total() << " " << large.total() << "\n";

  try {
    small.use(block.get(), 1);
  } catch (const ingot::Error& e) {
    std::cout << "too little: " << e.parts().observed << "\n";
  }
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
