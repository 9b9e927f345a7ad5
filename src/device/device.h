#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_account.h"
#include "base/sha256.h"
#include "ingot/error.h"
#include "ingot/execution_profile.h"
#include "ingot/graph.h"
#include "ingot/logger.h"
#include "ingot/settings.h"
#include "ingot/specialization.h"
#include "ingot/validity.h"

// The seam between the runtime and what runs a graph. A device turns a graph into a program; a program is run
// any number of times, by any number of contexts.
namespace ingot {

// Where the outputs of one run go. Made by the runtime for that run and used by one thread at a time, of the
// device's choice. `index` follows graph.outputs(); each output is given exactly once, in either way.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  // The caller's memory for an output of this shape, exactly as long as its bytes and aligned for its
  // elements; valid until run() returns. Empty: there is none, deliver() instead. May call the application's
  // allocator, so it may block. Throws Error when the memory is too small or refused.
  virtual std::optional<std::span<std::byte>> memory(size_t index, const Shape& shape) = 0;

  // The input in whose memory an output is to lie, at the same address, if the caller wants that. Then the
  // device asks for memory() when nothing reads that input any more, or where each element is read before the
  // one at its place is written.
  virtual std::optional<size_t> in_place_of(size_t) const { return std::nullopt; }

  // Hands over a finished output; does not block. Strings, sequences and optionals always go this way.
  virtual void deliver(size_t index, Datum output) = 0;
};

// The memory that one inference computes in: intermediate values and scratch.
struct MemoryNeed {
  int64_t bytes = 0;          // of one block
  int64_t least_bytes = 0;    // what no device can do without: the largest set of values alive at once
  int64_t scratch_bytes = 0;  // most of a step, counted in both
  int64_t value_bytes = 0;    // the largest set of values alive at once, without scratch
  // False: parts of the graph have sizes that only running can tell; they take memory as they come.
  bool is_complete = true;
};

// What one inference at a time runs in: intermediate memory, which grows at the first run of a set of shapes
// and then stays. Keeps its Program alive.
class Execution {
 public:
  virtual ~Execution() = default;

  // A block that the runs from now on compute in, until it is empty. For what does not fit, and without a
  // block, they take memory of their own and keep it. Not during a run.
  virtual void use_memory(std::span<std::byte>) {}

  // What it holds besides the memory that it computes in, in bytes of the host.
  virtual size_t persistent_bytes() const { return 0; }

  // Runs once; returns when all outputs are given. `inputs` follow graph.inputs(), are of the declared types
  // and satisfy the named sizes (the caller has checked); their memory may be the application's, is aligned
  // for its elements and is valid until return. Called on any thread, one at a time, which it blocks for the
  // whole inference. Throws Error; outputs given before that are discarded, memory written is unspecified.
  virtual void run(std::span<const Datum> inputs, OutputSink& outputs) = 0;

  // Measures the steps of the runs from now on, forgetting what was measured before; costs nothing while off.
  // Not during a run. A device without steps to show measures nothing.
  virtual void set_profiling(bool) {}
  virtual ExecutionProfile profile() const { return {}; }  // not during a run
};

// Counters of a program since it was compiled.
struct ProgramStats {
  uint64_t kernels = 0;           // distinct, in use
  uint64_t kernels_compiled = 0;  // by this process for this program
  uint64_t kernels_cached = 0;    // found in a cache instead
  uint64_t cache_rejected = 0;    // files of the cache that were damaged or not private
  uint64_t cache_write_failures = 0;
  uint64_t kernels_compiled_in_calls = 0;
  uint64_t kernels_compiled_in_background = 0;
  uint64_t plans = 0;  // sets of shapes prepared
  uint64_t plans_evicted = 0;
  uint64_t generic_runs = 0;  // of plans that are not the best
  uint64_t specialized = 0;   // plans swapped for the best
  uint64_t specializations_pending = 0;
  double specialize_seconds = 0;  // until swapped, summed
  uint64_t reference_nodes = 0;   // of those plans, run by the reference device for want of a kernel
  // Of the plan that needs most, per context:
  int64_t arena_bytes = 0;        // intermediate values and scratch
  int64_t arena_least_bytes = 0;  // what no arena can do without: the largest set of values alive at once
  int64_t scratch_bytes = 0;      // most of a step
  int64_t value_bytes = 0;        // the largest set of values alive at once, without scratch
  int64_t packed_bytes = 0;       // of weights in packed form
};

// Weights that need not all be in memory at once.
struct WeightStreaming {
  uint64_t budget = 0;            // bytes that may stay there between steps
  uint64_t streamable_bytes = 0;  // all that could leave it, of the plans made so far
  uint64_t streamed_bytes = 0;    // that leave it within the budget
  uint64_t scratch_bytes = 0;     // most of them that a single step brings in, beside the budget
};

// A graph made ready for one device. Immutable: any number of threads may use it at once. It keeps alive what
// it needs of the graph; it does not need its Device.
class Program : public std::enable_shared_from_this<Program> {
 public:
  virtual ~Program() = default;
  virtual std::unique_ptr<Execution> start() const = 0;  // one per context
  virtual ProgramStats stats() const { return {}; }
  // For inputs of these shapes, by input; none for those that are no tensors. May take as long as planning,
  // but compiles nothing. A device that does not plan memory says 0, as the reference device.
  virtual MemoryNeed memory_need(std::span<const std::optional<Shape>>) const { return {}; }
  // None where it was not asked for, or the device cannot.
  virtual std::optional<WeightStreaming> weight_streaming() const { return std::nullopt; }
  virtual void set_weight_streaming_budget(uint64_t) const {}  // not during a run
  // As Engine::prepare; shapes of all inputs, in the order of the graph, checked by the caller.
  virtual PrepareReport prepare(const std::vector<std::vector<Shape>>& sets, const PrepareOptions&) const {
    return {.prepared = sets.size()};
  }
  virtual MachineSpeed measure_speed() const { return {}; }  // takes part of a second
  // Of a kernel that its steps use. Throws Error(not_found).
  virtual KernelListing list_kernel(std::string_view key) const { refuse_kernel(key); }

 protected:
  [[noreturn]] static void refuse_kernel(std::string_view key) {
    throw Error({.code = ErrorCode::not_found,
                 .object = "kernel",
                 .name = std::string(key),
                 .expected = "the key of a kernel of this program",
                 .remedy = "Keys are in the steps of an execution profile."});
  }
};

class Cache;

// Whether code that was made somewhere is of use here.
enum class CodeUse { usable, other_version, other_device };

struct CompileOptions {
  int threads = 0;             // for one run, the caller's included; 0: all CPUs it may use
  std::vector<int> cpus = {};  // that threads but the caller's run on; none: all that the caller may use
  std::string
      identity;     // digest of the engine; kernels and packed weights are cached under it; empty: not cached
  std::string isa;  // highest instruction set to use, as the device names them; empty: all there are
  std::shared_ptr<Cache> cache;  // null: none
  bool keep_denormals = false;
  bool placeholder_weights = false;  // constants are not what they will be: what is made of them is not kept
  std::vector<std::vector<Shape>> shapes = {};  // of the inputs, by profile: prepared at once
  // Where shapes are open: sets of them for whose kinds of kernels generic ones are made at once. Those that
  // the graph turns out to refuse are passed over.
  std::vector<std::vector<Shape>> samples = {};
  SpecializationStrategy specialization = SpecializationStrategy::lazy;
  bool deterministic = false;                       // no set of shapes ever changes its kernels
  std::shared_ptr<MemoryAccount> memory = nullptr;  // that the weights of the program count in; null: none
  // Bytes of weights to keep in memory between steps; none: all of them.
  std::optional<uint64_t> weight_budget = std::nullopt;
  std::optional<uint64_t> workspace_limit = std::nullopt;  // bytes of scratch of a step; none: no limit
  std::span<const std::byte> mapped_file = {};             // the engine, where pages of it may be dropped
  Diagnostics diagnostics;  // of the Runtime; fallbacks and rejections are logged there
};

// What keeps a device from running engines, or from running them well.
struct DeviceLimit {
  EngineFinding finding;
  bool is_fatal = false;
};

// Stateless or thread-safe; lives until the process ends.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;  // as in RuntimeConfig::device and the target list of an engine

  // May take seconds; called on the thread that opens an engine, by several at once. `graph` is verified.
  // Throws Error(unsupported) for what the device cannot run.
  virtual std::shared_ptr<const Program> compile(std::shared_ptr<const Graph> graph,
                                                 const CompileOptions& options) const = 0;

  // Fields of RuntimeConfig that it has no use for, and why.
  virtual std::vector<IgnoredSetting> unused_settings() const {
    return {{"capture", "it calls its kernels directly, so there are no launches to capture"},
            {"auxiliary_streams", "it uses none: steps run one after the other, each on all threads"}};
  }

  // Of this machine, for these options; without compiling anything.
  virtual std::vector<DeviceLimit> find_limits(const CompileOptions&) const { return {}; }

  // Of code, or weights packed for it, for `target`, as "cpu:avx512", from the generator of this digest.
  virtual CodeUse use_of_code(std::string_view, const Digest&) const { return CodeUse::other_device; }
  // Puts into options.cache the kernels that compile() would make on a machine that is `target`, which this
  // one need not be: none of them is run. Throws Error(unsupported) for a target that is not of this device.
  virtual void prebuild(std::shared_ptr<const Graph>, const CompileOptions&, std::string_view target) const {
    throw Error({.code = ErrorCode::unsupported,
                 .object = "target",
                 .name = std::string(target),
                 .expected = "one that kernels can be compiled for, as cpu:avx2 or cpu:x86-64-v4",
                 .remedy = "Leave it out."});
  }
};

}  // namespace ingot
