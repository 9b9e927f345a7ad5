#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/debug.h"
#include "ingot/execution_profile.h"
#include "ingot/export.h"
#include "ingot/logger.h"
#include "ingot/memory.h"
#include "ingot/profile.h"
#include "ingot/settings.h"
#include "ingot/specialization.h"
#include "ingot/stream.h"
#include "ingot/tensor.h"
#include "ingot/type.h"
#include "ingot/validity.h"
#include "ingot/weights.h"

// Opens engine files and runs them.
//
//   StderrLogger logger;
//   Runtime runtime(logger);
//   std::shared_ptr<const Engine> engine = runtime.open("scorer.ingot");
//   std::unique_ptr<Context> context = engine->create_context();
//   std::map<std::string, Datum> out = context->run({{"x", Tensor::of<float>({1, 3}, {1, 2, 3})}});
//
// Lifetimes are safe in any order: a Context keeps its Engine alive, an Engine the mapping of its file, an
// inference under way all of them. Only the Logger must outlive everything, and memory bound to a context
// must live until the inferences that use it are done.
//
// Every call throws Error; what is thrown also goes to the recorder of the Runtime or, without one, to its
// logger.
namespace ingot {

class Context;
class Engine;
class RuntimeCache;

struct RuntimeConfig {
  std::shared_ptr<ErrorRecorder> recorder = nullptr;  // inherited by engines and contexts
  std::string device = "cpu";                         // one of Runtime::devices()
  int threads = 0;       // for one inference, the caller's included; 0: all CPUs the process may use.
                         // The reference device always uses one.
  std::string isa = {};  // cpu: the highest instruction set to use (avx2, avx512, avx512-vnni, avx512-bf16,
                         // amx); empty: what $INGOT_CPU_ISA says, else all that the processor has
  bool keep_denormals = false;  // cpu: numbers below 1e-38 are zero inside an inference unless this is set
  // cpu: where compiled kernels and packed weights are kept for the next start; empty: nowhere. Unset: what
  // $INGOT_CACHE says, else $XDG_CACHE_HOME/ingot or ~/.cache/ingot.
  std::optional<std::string> cache_folder = std::nullopt;
  // The same as an object (ingot/runtime_cache.h), which several runtimes may share; then cache_folder must
  // not be set.
  std::shared_ptr<RuntimeCache> cache = nullptr;
  std::shared_ptr<Allocator> allocator = nullptr;  // of all memory as large as a tensor; null: the C++ heap
  AllocationStrategy allocation = AllocationStrategy::fixed;  // of contexts that do not choose
  // cpu: streams weights. Bytes of them that may stay in memory between the steps that read them; the others
  // are read again from the engine file, or a file for packed weights, each time. Unset: all may stay, and
  // the budget cannot be set later.
  std::optional<uint64_t> weight_streaming_budget = std::nullopt;
  // Bytes that the weights of an engine may take, or, with weight_streaming_budget, that budget: open()
  // refuses more, and check_validity() says so before. Unset: no limit.
  std::optional<uint64_t> weight_memory_limit = std::nullopt;
  // cpu: bytes of scratch memory that a single step of an inference may need, for all its threads. A set of
  // shapes that needs more is refused with out_of_memory, naming the step, when it is planned. Unset: no
  // limit.
  std::optional<uint64_t> workspace_limit = std::nullopt;
  // That the threads of inferences run on, each an index as the system counts CPUs; none: all that the
  // process may use. The thread that calls run(), and that of a Stream, stays where it is.
  std::vector<int> cpus = {};
  // Streams that an inference may use beside the one it is enqueued on, at most; unset: the device chooses.
  std::optional<int> auxiliary_streams = std::nullopt;
  CaptureStrategy capture = CaptureStrategy::none;
  SpecializationStrategy specialization =
      SpecializationStrategy::lazy;  // cpu; of engines with dynamic shapes
  // A set of shapes always runs the same kernels, so that equal inputs give equal bits in every call: nothing
  // is swapped, and with lazy the first call of new shapes waits as with eager, unless prepare() was there.
  bool deterministic = false;
};

struct ContextOptions {
  std::string name = {};  // appears in errors and log lines; empty: "context N"
  std::optional<AllocationStrategy> allocation = std::nullopt;  // unset: as in RuntimeConfig
  std::shared_ptr<ErrorRecorder> recorder = nullptr;  // of errors of this context; null: the engine's
};

// One input or output of an engine.
struct PortInfo {
  std::string name;
  Type type;  // sizes are expressions; equal names are equal sizes
  // Inputs that are tensors: the shapes that each profile of the engine allows. A size that a profile leaves
  // open has the range that the graph gives it; where rank and profile leave all open, the shapes are empty.
  std::vector<ShapeRange> ranges;
};

// Where engines are opened. Thread-safe; engines outlive it. Engines and contexts inherit the logger, which
// must outlive them all, and the recorder.
class INGOT_API Runtime {
 public:
  // Throws not_found for a device this build does not have, naming those it has; invalid_argument for fewer
  // than 0 or more than 1024 threads, CPUs that the process may not use, fewer than 0 streams.
  explicit Runtime(Logger& logger, RuntimeConfig config = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  static std::vector<std::string> devices();  // the names of the devices of this build

  // Maps the file, checks it and prepares it for the device. The file may be deleted or replaced by rename
  // while the engine lives. Throws not_found, corrupt, incompatible, unsupported.
  std::shared_ptr<const Engine> open(const std::string& path, const OpenOptions& options = {}) const;
  // The same for bytes in memory that `owner` keeps alive; without an owner they are copied. `name` stands
  // for the file in messages.
  std::shared_ptr<const Engine> open(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                     const std::string& name, const OpenOptions& options = {}) const;
  // The same from a reader, which is not needed after the call. Weights are read straight to where they stay,
  // and their SHA-256 is checked on the way.
  std::shared_ptr<const Engine> open(EngineReader& reader, const std::string& name,
                                     const OpenOptions& options = {}) const;

  // Whether open() can work, from the first 64 bytes and the size of the file, this machine and the
  // configuration; see also check_engine_header() for bytes in memory. Invalid: open() fails. A file that is
  // no engine is an answer; a file that cannot be read throws as open() does.
  EngineValidity check_validity(const std::string& path) const;
  // The same, and reads every byte of the file: what is damaged behind the header is found as well.
  EngineValidity verify(const std::string& path) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Counters of an engine since it was opened.
struct EngineStats {
  uint64_t file_bytes = 0;
  uint64_t weight_bytes = 0;           // constants, each counted once, with those of the next line
  uint64_t stripped_weight_bytes = 0;  // of them, those that the engine lacks
  double open_seconds = 0;             // all of Runtime::open
  double compile_seconds = 0;          // the device's part of it
  uint64_t kernels = 0;                // that the prepared programs use; 0 for devices without kernels
  uint64_t kernels_compiled = 0;       // of them, compiled by this process
  uint64_t kernels_cached = 0;         // of them, found in a cache
  // Of the cache of the engine, whoever shares it:
  uint64_t cache_rejected = 0;                  // files that were damaged or not private to the user
  uint64_t cache_write_failures = 0;            // files that could not be kept for the next start
  uint64_t kernels_compiled_in_calls = 0;       // of kernels_compiled, while an inference waited
  uint64_t kernels_compiled_in_background = 0;  // of kernels_compiled, for shapes that generic ones served
  uint64_t plans = 0;                           // sets of input shapes prepared
  uint64_t plans_evicted = 0;                   // of those, forgotten to bound memory
  uint64_t generic_runs = 0;                    // runs of plans that await better kernels or go without
  uint64_t specialized = 0;                     // plans swapped for better ones
  uint64_t specializations_pending = 0;
  double specialize_seconds = 0;       // from meeting the shapes to the swap, summed over `specialized`
  uint64_t reference_nodes = 0;        // nodes of those that the reference device runs, for want of a kernel
  int64_t arena_bytes = 0;             // intermediate memory of a context, at most: values and scratch
  int64_t arena_least_bytes = 0;       // of it, what no planner can do without: values alive at once
  int64_t scratch_bytes = 0;           // of it, most that a single step needs besides values
  int64_t packed_bytes = 0;            // weights in the form that kernels read
  uint64_t streamed_weight_bytes = 0;  // weights that leave memory after each use
  uint64_t contexts_created = 0;       // alive or not
  uint64_t inferences = 0;             // completed by all contexts
};

// An opened engine. Thread-safe; any number of contexts share it and its weights. Nothing of it changes but
// its weights, by load_weights() and Refitter, and those between inferences.
class INGOT_API Engine : public std::enable_shared_from_this<Engine> {
 public:
  struct State;  // of the implementation
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& name() const;                             // the path or the name given to open()
  const std::string& device() const;                           // that it was prepared for
  const std::string& producer() const;                         // which Ingot built it
  const std::map<std::string, std::string>& metadata() const;  // labels, alphabets, licences of the model

  const std::vector<PortInfo>& inputs() const;   // in the order of the graph
  const std::vector<PortInfo>& outputs() const;  // in the order of the graph
  // By name. Throws not_found, naming those that exist.
  const PortInfo& input(std::string_view name) const;
  const PortInfo& output(std::string_view name) const;
  const std::vector<Profile>& profiles() const;  // none: takes every shape the graph allows
  // What BuilderConfig::debug_tensors named, in the order of the graph; outputs() has none of them.
  std::vector<PortInfo> debug_tensors() const;
  // What was set in RuntimeConfig and has no effect on this device; also in the log at level info.
  const std::vector<IgnoredSetting>& ignored_settings() const;

  EngineStats stats() const;
  // What the device reaches with as many threads, measured now in part of a second.
  MachineSpeed measure_speed() const;
  // The code of a kernel, by KernelInfo::key. Throws not_found.
  KernelListing list_kernel(std::string_view key) const;

  // Compiles and plans for sets of shapes without running, so that inferences with them run their best
  // kernels from the first on; several threads may prepare at once. Plans are kept for the 64 sets used last.
  // Throws not_found for an unknown input, invalid_argument for shapes that no profile allows, that
  // contradict each other or are missing, cancelled; what was prepared before stays.
  PrepareReport prepare(const std::vector<InputShapes>& shapes, const PrepareOptions& options = {}) const;
  RefitMode refit_mode() const;
  // Writes the engine with the weights that it has. The bytes are those it was opened from as long as nothing
  // was changed and `options` leave nothing out, else those that building with these weights gives. Throws
  // invalid_argument while weights are deferred; as build_engine_file().
  void save(const std::string& path, const SaveOptions& options = {}) const;
  void save(EngineWriter& writer, const SaveOptions& options = {}) const;
  std::vector<std::byte> serialize(const SaveOptions& options = {}) const;

  // Supplies the weights of an engine opened with OpenOptions::defer_weights: from the file or bytes that it
  // was opened from; from a copy of these; from a reader of the same engine. Content that did not come with
  // the engine is checked against its SHA-256. All or nothing, once; contexts need not be told. Throws
  // invalid_argument where weights are not deferred (any more) or there is nothing to read them from,
  // incompatible for another engine, corrupt for changed weights, device for a reader that gives too little.
  void load_weights() const;
  void load_weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) const;
  void load_weights(EngineReader& reader) const;

  // Contexts may be created and used in any thread; each serves one thread at a time. `name` appears in
  // errors and log lines; without one it is "context N".
  std::unique_ptr<Context> create_context(std::string name = {}) const;
  std::unique_ptr<Context> create_context(ContextOptions options) const;

  // Bytes that a context of a profile computes in (intermediate values and scratch) for its largest shapes;
  // without a profile, the most of all profiles. Not counted is what only running can tell the size of. The
  // reference device, which plans nothing, says 0. Throws invalid_argument where a size has no upper bound.
  size_t memory_size() const;
  size_t memory_size(size_t profile) const;
  // The same by what it is for, with what else a context and the engine take; logged at info level when an
  // engine is opened. Where a size has no upper bound, scratch and activation are those of the shapes so far.
  MemoryUse memory_use() const;

  // Of an engine opened with RuntimeConfig::weight_streaming_budget; the others throw invalid_argument.
  // Results are the same at any budget. Weights of the shapes planned so far, as those of the profiles, that
  // can leave memory: all above 64 KiB but those that the reference device reads.
  uint64_t streamable_weights_size() const;
  uint64_t weight_streaming_budget() const;
  // From now on; all of them may stay where it is at least streamable_weights_size(). Throws invalid_argument
  // while contexts or their inferences exist.
  void set_weight_streaming_budget(uint64_t bytes) const;
  // What fits into the memory available now beside the needs of a context.
  uint64_t weight_streaming_automatic_budget() const;
  // Bytes that a running inference brings in beside the budget, at most: the streamed weights of one step.
  uint64_t weight_streaming_scratch_size() const;

 private:
  friend class Runtime;
  friend class Context;
  friend class Refitter;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Gives memory for an output once its shape is known: at least `bytes`, aligned for the element type, valid
// until the caller has read the result. Null refuses, which fails the inference with out_of_memory. Called on
// the thread that runs the inference, once per inference.
using OutputAllocator = std::function<void*(const std::string& name, const Shape& shape, size_t bytes)>;

// Counters of a context since it was created.
struct ContextStats {
  uint64_t enqueued = 0;      // inferences given to enqueue() or run()
  uint64_t completed = 0;     // and finished well
  uint64_t failed = 0;        // and ended in an error
  uint64_t skipped = 0;       // and not begun, as one before them on their stream had failed
  double busy_seconds = 0;    // time spent in inferences
  double last_seconds = 0;    // of the last inference that completed
  uint64_t memory_bytes = 0;  // that it computes in now: its own, or the application's
};

// The state of one in-flight inference. One thread at a time: a call while another thread is in one throws
// invalid_argument and changes nothing. A call that throws changes nothing.
class INGOT_API Context {
 public:
  struct State;  // of the implementation
  ~Context();    // does not wait; inferences under way finish on their own
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::string& name() const;
  const Engine& engine() const;

  // Runs one inference on the calling thread, on data of its own: neither reads nor changes shapes and
  // bindings. The shapes must fit one profile of the engine, whichever. An input of optional type may be left
  // out, which is an empty optional.
  std::map<std::string, Datum> run(const std::map<std::string, Datum>& inputs);

  // A new context uses profile 0. Forgets all shapes set.
  void set_profile(size_t profile);
  // From now on the shapes decide: the first profile that allows all of them, as run() does anyway. Forgets
  // all shapes set.
  void set_automatic_profile();
  // The one set, or that of the shapes set now; before all are, the one used last.
  size_t profile() const;

  // The block to compute in, of a context created with AllocationStrategy::user_managed, for each inference
  // enqueued or run from now on; null takes it away. At a multiple of kMemoryAlignment, and as large as the
  // shapes of an inference need: checked at once where they are set, and by enqueue() and run(). It must live
  // until those inferences are done, and may serve any other context that does not run meanwhile; its content
  // is of no account.
  void set_memory(void* memory, size_t bytes);
  // What the profile and shapes set now need; 0 until all shapes are set. To be asked again when they change.
  size_t memory_size_for_shapes() const;
  // The same by what it is for, with what else the context and its engine take; as Engine::memory_use() until
  // all shapes are set.
  MemoryUse memory_use() const;

  // Needed for every tensor input whose type leaves a size open. Checks rank, fixed sizes and the ranges of
  // the profile at once; whether equal names met equal sizes in all inputs is checked where all are known: by
  // shape(), required_bytes() of outputs and enqueue().
  void set_shape(std::string_view input, Shape shape);
  // Of an input: fixed or as set. Of an output: as it follows from the shapes of the inputs. Empty when a
  // shape it follows from is not set or when only running can tell.
  std::optional<Shape> shape(std::string_view name) const;
  // Bytes of shape(name). Throws invalid_argument when that is not known, or for a port without raw bytes
  // (strings, sequences, optionals).
  size_t required_bytes(std::string_view name) const;

  // Memory of the caller, naturally aligned for the element type, read or written by each inference enqueued
  // from now on; it must live, and inputs must not change, until the stream has been synchronised. `bytes` is
  // the size of the memory: exactly that of an input, at least that of an output. It is checked at once where
  // the type fixes it, else by enqueue() or, where only running can tell, by the inference. Null with 0 bytes
  // undoes a binding.
  //
  // An output may have the address of an input that it replaces, as the cache of an attention: the inference
  // reads what was there and leaves the new values, in place where the device can show that each element is
  // read before it is written, else by way of other memory. If such an inference fails, the content is
  // unspecified. Any other overlap is refused by enqueue(), with the names of both.
  void bind_input(std::string_view name, const void* memory, size_t bytes);
  void bind_output(std::string_view name, void* memory, size_t bytes);
  // The same with the element type checked.
  template <class T>
  void bind_input(std::string_view name, std::span<const T> elements) {
    check_dtype(engine().input(name), NativeDType<T>::value);
    bind_input(name, elements.data(), elements.size_bytes());
  }
  template <class T>
  void bind_output(std::string_view name, std::span<T> elements) {
    check_dtype(engine().output(name), NativeDType<T>::value);
    bind_output(name, elements.data(), elements.size_bytes());
  }
  // For outputs whose size only running can tell: asked instead of a bound buffer. Null undoes it.
  void set_output_allocator(std::string_view output, OutputAllocator allocator);

  // Queues one inference with the shapes and bindings as they are now, and returns. Errors of the inference
  // are thrown by stream.synchronize(). While inferences of a context are pending, it can be enqueued on the
  // same stream only. On an inline stream it runs the inference and throws its errors itself.
  void enqueue(Stream& stream);
  // Moved by each enqueue() to the point where the inference no longer reads its inputs, which may be before
  // its end; never later. The cpu and reference devices read inputs until the end. Null: none.
  void set_input_consumed_event(std::optional<Event> event);
  // The real shape of an output in the last enqueued inference that completed. Throws invalid_argument if
  // none has.
  Shape result_shape(std::string_view output) const;

  ContextStats stats() const;  // any thread

  // Shows the debug tensors of each inference from now on; null shows them no more. Without a listener they
  // cost nothing: inferences run the program that does not have them. With one they run another, which the
  // first listener of an engine makes, and which may compute results in other steps; what was profiled is
  // forgotten, and stats() of the engine tell nothing of it. Throws invalid_argument for an engine without
  // debug tensors and while inferences are pending.
  void set_debug_listener(DebugListener listener);

  // Measures the steps of all inferences from now on, or of none; forgets what was measured before. Off at
  // first, and then costs nothing; while on, every step takes about a tenth of a microsecond more. Waits for
  // nothing: throws invalid_argument while inferences are pending.
  void set_profiling(bool on);
  // What was measured; no steps where profiling is off or the device has none to show (reference). Throws
  // invalid_argument while inferences are pending.
  ExecutionProfile execution_profile() const;

 private:
  friend class Engine;
  explicit Context(std::shared_ptr<State> state);
  void check_dtype(const PortInfo& port, DType dtype) const;
  std::shared_ptr<State> state_;
};

}  // namespace ingot
