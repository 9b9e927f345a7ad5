#include "base/atomic_file.h"
#include "base/reported.h"
#include "engine/byte_sink.h"
#include "ingot/error.h"
#include "ingot/runtime.h"
#include "runtime/engine_state.h"

namespace ingot {
namespace {

constexpr size_t kPiece = size_t{4} << 20;

// Gives the application what the engine writer appends.
class ApplicationSink : public ByteSink {
 public:
  explicit ApplicationSink(EngineWriter& writer) : writer_(writer) {}

  void append(std::span<const std::byte> bytes) override {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kPiece))) {
      const auto piece = bytes.first(std::min(bytes.size(), kPiece));
      writer_.write(end_, piece);
      end_ += piece.size();
    }
  }
  void write_at(uint64_t offset, std::span<const std::byte> bytes) override { writer_.write(offset, bytes); }

 private:
  EngineWriter& writer_;
  uint64_t end_ = 0;
};

void save(const Engine::State& engine, ByteSink& sink, const SaveOptions& options) {
  const EngineWeights& weights = engine.weights;
  const std::lock_guard lock(weights.mutex);
  engine.require_weights();
  const bool strips = !options.weights && !weights.content.stripped && engine.fixed.weight_bytes > 0;
  if (!weights.changed && !strips) {
    sink.reserve(weights.image.start.size() + weights.image.weights.size());
    sink.append(weights.image.start);
    sink.append(weights.image.weights);
    return;
  }
  EngineContent content = weights.content;
  content.graph = *weights.graph;
  content.stripped = !options.weights;
  write_engine(content, sink);
}

}  // namespace

EngineWriter::~EngineWriter() = default;
EngineReader::~EngineReader() = default;

std::future<size_t> EngineReader::read_async(uint64_t offset, std::span<std::byte> into) {
  std::promise<size_t> given;
  given.set_value(read(offset, into));
  return given.get_future();
}

void Engine::save(const std::string& path, const SaveOptions& options) const {
  reported(state_->diagnostics, [&] {
    AtomicFile file(path, "engine file");
    FileSink sink(file);
    ingot::save(*state_, sink, options);
    file.commit();
  });
}

void Engine::save(EngineWriter& writer, const SaveOptions& options) const {
  reported(state_->diagnostics, [&] {
    ApplicationSink sink(writer);
    ingot::save(*state_, sink, options);
  });
}

std::vector<std::byte> Engine::serialize(const SaveOptions& options) const {
  return reported(state_->diagnostics, [&] {
    MemorySink sink;
    ingot::save(*state_, sink, options);
    return sink.take();
  });
}

}  // namespace ingot
