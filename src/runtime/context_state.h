#pragma once

#include <atomic>
#include <mutex>

#include "device/device.h"
#include "ingot/runtime.h"
#include "ir/bind_symbols.h"
#include "runtime/context_memory.h"

namespace ingot {

struct InputSlot {
  std::optional<Shape> shape;  // fixed by the type, or set
  const void* memory = nullptr;
  size_t bytes = 0;
};

struct OutputSlot {
  void* memory = nullptr;
  size_t bytes = 0;
  OutputAllocator allocator;
};

// All that an inference needs to know of its context, as it was when it was enqueued.
struct Bindings {
  std::vector<Datum> inputs;
  std::vector<OutputSlot> outputs;
  std::vector<std::optional<size_t>> in_place;  // by output: the input in whose memory it lies
  MemoryBlock memory;
};

// Counts itself in as long as it lives.
class Counted {
 public:
  explicit Counted(std::atomic<uint64_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<uint64_t>& count_;
};

// Kept alive by the Context and by its inferences under way. The first part is for the thread that holds
// `busy`, the second, guarded by `mutex`, also for the threads that run inferences.
struct Context::State {
  State(std::shared_ptr<const Engine> engine, const ContextOptions& options);

  const Engine::State& shared() const;

  // Sizes of symbols as far as shapes are known. Throws where equal names have different sizes.
  SymbolSizes bind_known_shapes() const;
  const PortInfo& port(std::string_view name) const;  // an input or an output
  // As Context::shape().
  std::optional<Shape> shape_of(std::string_view name) const;
  // What is set and bound now, made once for all inferences until something is set or bound again. Throws
  // where something is missing.
  std::shared_ptr<const Bindings> bindings();

  // Counts an inference in. Throws where others are pending, unless on the same stream; null is run().
  void begin(const void* stream);
  void cancel_begin();  // it could not be queued
  void skip();          // counts it out without running it
  // Runs it on this thread and counts it out; `keep_shapes` makes the running shapes those of the result.
  // Throws Error that names the context.
  void perform(std::span<const Datum> inputs, OutputSink& outputs, const MemoryBlock& memory,
               bool keep_shapes);
  // The same on memory of the application.
  void perform_bound(const Bindings& bindings);
  void listen(DebugListener listener);  // as Context::set_debug_listener()
  void change_profile(size_t wanted);
  void follow_shapes();         // changes the profile to that of the shapes set, where it is to be chosen
  void forget_shapes();         // but for those that types fix
  void require_idle() const;    // throws while inferences are pending
  void set_profiling(bool on);  // while idle
  std::vector<std::optional<Shape>> input_shapes() const;
  size_t memory_size_for_shapes() const;  // as that of Context
  MemoryUse memory_use() const;           // as that of Context

  const std::shared_ptr<const Engine> engine;
  const Counted alive;
  const std::string name;
  const Diagnostics diagnostics;
  ContextMemory memory;
  std::shared_ptr<const Program> program;  // of the execution
  std::shared_ptr<Execution> execution;    // changes while an inference begins, under `mutex`
  bool profiling = false;
  std::atomic_flag busy;

  size_t profile = 0;
  bool chooses_profile = false;  // by the shapes
  std::vector<InputSlot> inputs;
  std::vector<OutputSlot> outputs;
  std::shared_ptr<const Bindings> bound;  // of these slots; null after a change
  std::optional<Event> inputs_consumed;
  DebugListener debug_listener;

  mutable std::mutex mutex;
  ContextStats stats;
  uint64_t pending = 0;
  const void* stream = nullptr;      // of the pending inferences
  std::vector<Shape> result_shapes;  // of the last completed inference, by output
  bool has_result = false;
  // Of the inference that runs: the pending ones are on one stream, so there is one at a time.
  std::vector<Shape> running_shapes;

 private:
  void follow_engine();  // begins with the program that the engine has now
  std::vector<Datum> gather_inputs() const;
  bool has_all_shapes() const;  // throws where equal names have different sizes
  void log_growth(uint64_t before) const;
  void require_raw_ports() const;
  void require_shapes() const;
  void require_memory(const SymbolSizes& sizes) const;
  void require_output_sizes(const SymbolSizes& sizes) const;
  void end(double seconds, bool completed);
};

}  // namespace ingot
