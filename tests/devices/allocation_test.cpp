#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "support/quiet_logger.h"
#include "tests/devices/run.h"
#include "tests/devices/table.h"
#include "tests/devices/targets.h"

// Once a program has met its sizes, an inference allocates nothing, on no thread. Every way to memory is
// counted here, C++ and C.
namespace {
enum class Counted { none, all, calling_thread };
std::atomic<Counted> counting = Counted::none;
thread_local bool calling = false;
std::atomic<int64_t> allocations = 0;

void count() {
  const Counted counted = counting.load(std::memory_order_relaxed);
  if (counted == Counted::all || (counted == Counted::calling_thread && calling)) ++allocations;
}
}  // namespace

extern "C" {
void* __libc_malloc(size_t size);                      // NOLINT: names of the C library
void* __libc_calloc(size_t count, size_t size);        // NOLINT
void* __libc_realloc(void* memory, size_t size);       // NOLINT
void* __libc_memalign(size_t alignment, size_t size);  // NOLINT

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace ingot::devices {
namespace {

// A block of a network of each kind: convolution, attention, norm, pool, movement.
Value image_block(GraphMaker& m) {
  GraphBuilder& g = m.g;
  const Value x = m.tensor(DType::f32, {1, 8, 17, 19});
  const Value a = g.relu(
      g.conv(x, m.constant(random_tensor(m.random, DType::f32, {16, 8, 3, 3})), {}, {.pads = {1, 1, 1, 1}}));
  const Value b = g.conv(a, m.constant(random_tensor(m.random, DType::f32, {8, 16, 1, 1})), {});
  const Value pooled = g.max_pool(g.add(b, x), {.kernel = {2, 2}, .strides = {2, 2}})[0];
  return g.softmax(g.reduce_mean(pooled, m.ints({2, 3}), {.keep_dims = false}));
}

Value token_block(GraphMaker& m) {
  GraphBuilder& g = m.g;
  const Value x = m.tensor(DType::f32, {2, 13, 24});
  auto project = [&] {
    const Value y = g.matmul(x, m.constant(random_tensor(m.random, DType::f32, {24, 24}, {-0.3, 0.3})));
    return g.transpose(g.reshape(y, m.ints({0, 0, 3, 8})), {.permutation = {0, 2, 1, 3}});
  };
  const Value q = project(), k = project(), v = project();
  const Value mixed = g.attention(q, k, v, {}, {}, {}, {})[0];
  const Value joined = g.reshape(g.transpose(mixed, {.permutation = {0, 2, 1, 3}}), m.ints({0, 0, 24}));
  const Value scale = m.constant(random_tensor(m.random, DType::f32, {24}));
  return g.gelu(g.layer_norm(g.add(joined, x), scale, {})[0]);
}

// Warm, then counted.
int64_t allocations_of_an_inference(Value (*block)(GraphMaker&), const std::string& device, int threads,
                                    Counted counted) {
  GraphMaker maker(3, Source::plain, false);
  const Value y = block(maker);
  const TestGraph graph = std::move(maker).finish({y});
  RuntimeConfig config;
  config.device = device;
  config.threads = threads;
  config.specialization = SpecializationStrategy::eager;  // no thread makes better kernels meanwhile
  config.cache_folder =
      "";  // packed weights are written to a cache behind the first answer, by a thread that counts too
  const auto engine = Runtime(quiet_logger(), config).open(build_engine(*graph.graph), nullptr, "block");
  const auto context = engine->create_context();
  const Tensor& x = graph.runs[0][0].tensor();
  context->bind_input("x0", x.bytes().data(), x.bytes().size());
  std::vector<float> result(context->required_bytes("y0") / sizeof(float));
  context->bind_output("y0", std::span(result));
  Stream stream;
  auto infer = [&] {
    context->enqueue(stream);
    stream.synchronize();
  };
  for (int warm = 0; warm < 20; ++warm) infer();
  allocations = 0;
  calling = true;
  counting = counted;
  for (int run = 0; run < 20; ++run) infer();
  counting = Counted::none;
  return allocations;
}

TEST(Allocation, IsCounted) {
  allocations = 0;
  counting = Counted::all;
  auto* number = new int(1);
  void* memory = std::malloc(10);
  counting = Counted::none;
  delete number;
  std::free(memory);
  EXPECT_EQ(allocations, 2);
}

// What the runtime does for every device.
TEST(Allocation, NoneByTheThreadThatEnqueues) {
  EXPECT_EQ(allocations_of_an_inference(image_block, "reference", 1, Counted::calling_thread), 0);
}

TEST(Allocation, NoneOnceAProgramIsWarm) {
  const auto devices = Runtime::devices();
  if (std::ranges::find(devices, "cpu") == devices.end()) GTEST_SKIP() << "this build has no device 'cpu'";
  for (int threads : {1, 2}) {
    EXPECT_EQ(allocations_of_an_inference(image_block, "cpu", threads, Counted::all), 0) << threads;
    EXPECT_EQ(allocations_of_an_inference(token_block, "cpu", threads, Counted::all), 0) << threads;
  }
}

// Memory for results of known shape, made before the run that is counted.
class PreparedOutputs : public OutputSink {
 public:
  explicit PreparedOutputs(const std::vector<Datum>& like) {
    for (const Datum& datum : like)
      tensors_.push_back(datum.is_tensor() ? Tensor::allocate(datum.tensor().dtype(), datum.tensor().shape())
                                           : Tensor());
  }
  std::optional<std::span<std::byte>> memory(size_t index, const Shape&) override {
    return tensors_[index].mutable_bytes();
  }
  void deliver(size_t, Datum) override { delivered = true; }

  bool delivered = false;  // so the result was allocated, as it has to be

 private:
  std::vector<Tensor> tensors_;
};

bool sizes_follow_from_inputs(const Graph& graph) {
  return std::ranges::all_of(graph.outputs(), [&](const Port& port) {
    const Type& type = graph.type(port.value);
    return type.is_ranked() && std::ranges::all_of(*type.dims, &Dim::is_constant);
  });
}

// Better kernels are made meanwhile, by a thread that counts too.
void settle(const Program& program) {
  while (program.stats().specializations_pending > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Of a fourth run, where the device has kernels for all of the graph and sizes do not depend on data.
std::optional<int64_t> allocations_of_a_run(const TestGraph& graph, const Target& target) {
  if (!sizes_follow_from_inputs(*graph.graph)) return std::nullopt;
  const auto program = target.device->compile(graph.graph, target.options);
  const auto execution = program->start();
  const std::vector<Datum> results = run(*execution, *graph.graph, graph.runs[0]);
  settle(*program);
  run(*execution, *graph.graph, graph.runs[0]);
  PreparedOutputs outputs(results);
  execution->run(graph.runs[0], outputs);
  allocations = 0;
  counting = Counted::all;
  execution->run(graph.runs[0], outputs);
  counting = Counted::none;
  if (outputs.delivered || program->stats().reference_nodes > 0) return std::nullopt;
  return allocations;
}

// One case of twelve, which are all ops on several types.
TEST(Allocation, NoneByAnyKernel) {
  size_t index = 0;
  int counted = 0;
  const Table table = make_table();
  for (const TableCase& test : table) {
    if (++index % 12 != 0) continue;
    GraphMaker maker(1, test.sources.back(), false);
    const std::vector<Value> values = test.build(maker);
    const TestGraph graph = std::move(maker).finish(values);
    for (const Target& target : targets()) {
      const auto found = allocations_of_a_run(graph, target);
      if (!found) continue;
      ++counted;
      EXPECT_EQ(*found, 0) << target.name << ": " << test.name << ", " << source_name(test.sources.back());
    }
  }
  EXPECT_GT(counted, 100);
}

}  // namespace
}  // namespace ingot::devices
