#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingot/dtype.h"
#include "ingot/export.h"
#include "ingot/refit_mode.h"
#include "ingot/tensor.h"

// Other weights for an engine that is open: replaced (refit), given back (stripped engines), or supplied
// after opening (deferred). docs/weights.md tells what each is for.
//
//   auto engine = runtime.open("detector.ingot");           // built with BuilderConfig::refit = whole
//   Refitter refitter(engine);
//   refitter.set("conv1.weight", tensor);
//   refitter.set_from(import_onnx("retrained.onnx"));
//   refitter.commit();                                      // all of it or nothing
//   engine->save("retrained.ingot");
namespace ingot {

class ErrorRecorder;

class Engine;
class Graph;

// A weight of an engine that can be given.
struct WeightInfo {
  std::string name;  // that it had in the model: of the ONNX initializer, or GraphBuilder::set_origin()
  DType dtype = DType::f32;
  Shape shape;
  uint64_t bytes = 0;
  bool missing = false;    // the engine was stripped of it and cannot run before it is given
  bool identical = false;  // takes only the content that it was built with
  std::string sha256;      // 64 hexadecimal digits of that content, where the engine holds no copy of it
};

// Gives weights to an engine. Several may exist for one engine; one thread at a time for each.
//
// An engine changes between inferences: those that have begun finish with the old weights, each one that
// begins after commit() returned runs with the new ones, one that begins meanwhile with either, never with
// some of both. Contexts stay as they are and need not be told. The device prepares its kernels and packed
// weights anew, so the result is that of an engine built with these weights.
class INGOT_API Refitter {
 public:
  explicit Refitter(std::shared_ptr<const Engine> engine);
  ~Refitter();
  Refitter(const Refitter&) = delete;
  Refitter& operator=(const Refitter&) = delete;

  // All that can be given, by name.
  const std::vector<WeightInfo>& weights() const;
  // Names of weights that the engine lacks and that were not set yet.
  std::vector<std::string> missing() const;

  // Takes the tensor, or shares its memory (Tensor::share for a mapped file), which must not change while the
  // engine uses it. Setting a weight again replaces it. Checked by commit().
  void set(const std::string& name, Tensor value);
  // Sets what a model of the same structure has under these names. Throws incompatible for a model that
  // differs in more than its weights: another node, shape, or constant that the engine does not let go.
  void set_from(const Graph& model);
  // Sets what an engine file has: weights by name and, where only the same content is taken, by its SHA-256.
  // Names that this engine does not have are passed over.
  void set_from_engine(const std::string& path);

  size_t given() const;  // how many were set since the last commit

  // All or nothing. Throws invalid_argument that lists everything wrong at once (names that the engine does
  // not have, wrong types and shapes, other content where the same is needed, weights still missing), and
  // whatever preparing for the device throws; then the engine is as it was, and what was set stays set. After
  // success nothing is set.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct SaveOptions {
  bool weights = true;  // false: leaves out constants above 1,024 bytes, as BuilderConfig::strip_weights
};

// Where Engine::save() writes to.
class INGOT_API EngineWriter {
 public:
  virtual ~EngineWriter();
  // Offsets ascend without gaps, but that the first 128 bytes may be written a second time at the end. May
  // throw to stop.
  virtual void write(uint64_t offset, std::span<const std::byte> bytes) = 0;
};

// Where an engine is read from that is neither a file nor memory: a stream, an archive, a server.
class INGOT_API EngineReader {
 public:
  virtual ~EngineReader();
  virtual uint64_t size() = 0;  // of the whole engine, in bytes
  // Copies bytes that start at `offset` of the engine, at most 4 MiB in one call, on the thread that called
  // the library; returns how many. Fewer than asked for end the load with Error(device). May throw. Pieces
  // are asked for in ascending order.
  virtual size_t read(uint64_t offset, std::span<std::byte> into) = 0;
  // For sources that answer later, as a disk with queues or a connection: starts a read and returns before it
  // is done; the future gives what read() returns, or its exception. Up to 4 are under way at once, started
  // in ascending order; `into` is valid until the future is ready, whatever else goes wrong. By default
  // read() is called at once.
  virtual std::future<size_t> read_async(uint64_t offset, std::span<std::byte> into);
};

struct OpenOptions {
  // Opens without reading weights: kernels are prepared, contexts can be created, shapes set and memory
  // bound; running is refused until Engine::load_weights().
  bool defer_weights = false;
  std::shared_ptr<ErrorRecorder> recorder = nullptr;  // of errors of this engine; null: the runtime's
};

}  // namespace ingot
