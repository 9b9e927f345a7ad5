#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ingot/graph.h"
#include "ingot/logger.h"

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

  // Hands over a finished output; does not block. Strings, sequences and optionals always go this way.
  virtual void deliver(size_t index, Datum output) = 0;
};

// A graph made ready for one device. Immutable: any number of threads may run it at once. It keeps alive what
// it needs of the graph; it does not need its Device.
class Program {
 public:
  virtual ~Program() = default;

  // Runs once; returns when all outputs are given. `inputs` follow graph.inputs(), are of the declared types
  // and satisfy the named sizes (the caller has checked); their memory may be the application's, is aligned
  // for its elements and is valid until return. Called on any thread, blocks it for the whole inference.
  // Throws Error; outputs given before that are discarded, memory written is unspecified.
  virtual void run(std::span<const Datum> inputs, OutputSink& outputs) const = 0;
};

struct CompileOptions {
  int threads = 0;          // for one run, the caller's included; 0: all CPUs the process may use
  Diagnostics diagnostics;  // of the Runtime; fallbacks and rejections are logged there
};

// Stateless or thread-safe; lives until the process ends.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;  // as in RuntimeConfig::device and the target list of an engine

  // May take seconds; called on the thread that opens an engine, by several at once. `graph` is verified.
  // Throws Error(unsupported) for what the device cannot run.
  virtual std::unique_ptr<const Program> compile(std::shared_ptr<const Graph> graph,
                                                 const CompileOptions& options) const = 0;
};

}  // namespace ingot
