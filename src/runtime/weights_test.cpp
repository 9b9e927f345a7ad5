// Saving engines, reading them from elsewhere, and weights that come after opening.
#include "ingot/weights.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/header.h"
#include "ingot/error.h"
#include "runtime/weights_testing.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

const OpenOptions kDeferred{.defer_weights = true};

RuntimeConfig uncached() { return {.cache_folder = ""}; }

class KeepingWriter : public EngineWriter {
 public:
  void write(uint64_t offset, std::span<const std::byte> piece) override {
    bytes.resize(std::max<size_t>(bytes.size(), offset + piece.size()));
    std::ranges::copy(piece, bytes.begin() + static_cast<ptrdiff_t>(offset));
  }
  std::vector<std::byte> bytes;
};

TEST(SaveEngine, GivesTheBytesThatWereOpened) {
  TempFolder folder;
  const std::vector<std::byte> bytes = engine_bytes(layers_graph(1), {.refit = RefitMode::whole});
  const auto engine = open_bytes(bytes);
  EXPECT_EQ(engine->serialize(), bytes);
  KeepingWriter writer;
  engine->save(writer);
  EXPECT_EQ(writer.bytes, bytes);
  engine->save(folder.file("a.ingot"));
  EXPECT_EQ(Runtime(quiet_logger()).open(folder.file("a.ingot"))->serialize(), bytes);
}

TEST(SaveEngine, WithoutWeightsIsWhatAStrippedBuildGives) {
  const auto engine = open_bytes(engine_bytes(layers_graph(1)));
  EXPECT_EQ(engine->serialize({.weights = false}), engine_bytes(layers_graph(1), {.stripped = true}));
}

TEST(SaveEngine, AStrippedEngineStaysOne) {
  const std::vector<std::byte> stripped = engine_bytes(layers_graph(1), {.stripped = true});
  const auto engine = open_bytes(stripped);
  EXPECT_EQ(engine->serialize(), stripped);
  EXPECT_EQ(engine->serialize({.weights = false}), stripped);
}

TEST(SaveEngine, AfterARefitIsAnEngineOfTheNewWeights) {
  const auto engine = open_bytes(engine_bytes(layers_graph(1), {.refit = RefitMode::whole}));
  Refitter refitter(engine);
  refitter.set_from(layers_graph(2));
  refitter.commit();
  EXPECT_EQ(engine->serialize(), engine_bytes(layers_graph(2), {.refit = RefitMode::whole}));
  EXPECT_EQ(engine->serialize({.weights = false}),
            engine_bytes(layers_graph(2), {.stripped = true, .refit = RefitMode::whole}));
}

TEST(EngineReaders, GiveAnEngineInPiecesInOrder) {
  GraphBuilder g("large");
  g.output("y", g.constant(Tensor::allocate(DType::u8, {9 << 20})));
  BytesReader reader(engine_bytes(std::move(g).finish()));
  const auto engine = Runtime(quiet_logger()).open(reader, "stream");
  EXPECT_EQ(engine->create_context()->run({}).at("y").tensor().shape(), (Shape{9 << 20}));
  EXPECT_TRUE(reader.ascending);
  EXPECT_LE(reader.largest, size_t{4} << 20);
  EXPECT_EQ(reader.end, reader.stated);
}

TEST(EngineReaders, ResultsAreThoseOfAFile) {
  BytesReader reader(engine_bytes(layers_graph(1)));
  const auto engine = Runtime(quiet_logger()).open(reader, "stream");
  expect_layers(*engine, *engine->create_context(), 1);
  EXPECT_EQ(engine->name(), "stream");
}

// Answers from threads of its own, the pieces that were asked for first the latest.
class LateReader : public BytesReader {
 public:
  using BytesReader::BytesReader;
  std::future<size_t> read_async(uint64_t offset, std::span<std::byte> into) override {
    most_ = std::max<int>(most_, ++under_way_);
    const int delay = offset == fails_at ? 0 : 20 - under_way_ * 4;
    std::packaged_task<size_t()> task([this, offset, into, delay] {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay));
      const std::lock_guard lock(mutex_);
      --under_way_;
      if (offset == fails_at) throw std::runtime_error("the line is down");
      return read(offset, into);
    });
    std::future<size_t> given = task.get_future();
    threads_.emplace_back(std::move(task));
    return given;
  }
  int most() const { return most_; }
  int under_way() const { return under_way_; }

  uint64_t fails_at = UINT64_MAX;

 private:
  std::mutex mutex_;
  std::atomic<int> under_way_ = 0;
  int most_ = 0;
  std::vector<std::jthread> threads_;
};

std::vector<std::byte> large_engine() {
  GraphBuilder g("large");
  Tensor weight = Tensor::allocate(DType::u8, {33 << 20});
  for (size_t i = 0; i < weight.bytes().size(); ++i)
    weight.mutable_bytes()[i] = static_cast<std::byte>(i * 13 + i / 4096);
  g.output("y", g.constant(weight));
  return engine_bytes(std::move(g).finish());
}

TEST(EngineReaders, SeveralReadsMayBeUnderWay) {
  const std::vector<std::byte> bytes = large_engine();
  LateReader reader(bytes);
  const auto engine = Runtime(quiet_logger()).open(reader, "stream");
  EXPECT_GT(reader.most(), 1);
  EXPECT_LE(reader.most(), 4);
  EXPECT_EQ(engine->serialize(), bytes);
}

// Memory goes with the error, so no read may write there later.
TEST(EngineReaders, AFailureAwaitsTheOtherReads) {
  const std::vector<std::byte> bytes = large_engine();
  LateReader reader(bytes);
  reader.fails_at = decode_header(bytes).weights_offset;
  const Error e = thrown_by([&] { Runtime(quiet_logger()).open(reader, "stream"); });
  EXPECT_EQ(e.code(), ErrorCode::device);
  EXPECT_EQ(e.parts().observed, "the line is down");
  EXPECT_EQ(reader.under_way(), 0);
}

TEST(EngineReaders, AFutureOfNothingIsAnError) {
  struct Absent : BytesReader {
    using BytesReader::BytesReader;
    std::future<size_t> read_async(uint64_t, std::span<std::byte>) override { return {}; }
  } reader(engine_bytes(layers_graph(1)));
  EXPECT_EQ(thrown_by([&] { Runtime(quiet_logger()).open(reader, "stream"); }).code(), ErrorCode::device);
}

TEST(EngineReaders, OneThatEndsEarlyIsRefusedAnywhere) {
  const std::vector<std::byte> bytes = engine_bytes(layers_graph(1));
  for (const size_t given : {size_t{0}, size_t{1}, size_t{63}, size_t{127}, size_t{500}, bytes.size() - 1}) {
    BytesReader reader(bytes);
    reader.given = given;
    const Error e = thrown_by([&] { Runtime(quiet_logger()).open(reader, "stream"); });
    EXPECT_EQ(e.code(), ErrorCode::device) << given;
    EXPECT_EQ(e.parts().name, "stream");
  }
}

TEST(EngineReaders, GarbageIsRefused) {
  BytesReader reader(std::vector<std::byte>(5000, std::byte{0x5a}));
  EXPECT_EQ(thrown_by([&] { Runtime(quiet_logger()).open(reader, "stream"); }).code(), ErrorCode::corrupt);
  BytesReader empty({});
  EXPECT_EQ(thrown_by([&] { Runtime(quiet_logger()).open(empty, "stream"); }).code(), ErrorCode::corrupt);
}

TEST(EngineReaders, WeightsThatChangedOnTheWayAreRefused) {
  std::vector<std::byte> bytes = engine_bytes(layers_graph(1));
  bytes.back() ^= std::byte{1};
  BytesReader reader(bytes);
  EXPECT_EQ(thrown_by([&] { Runtime(quiet_logger()).open(reader, "stream"); }).code(), ErrorCode::corrupt);
}

TEST(DeferredWeights, RunningBeforeThemNamesWhatIsMissing) {
  const auto engine = open_bytes(engine_bytes(layers_graph(1)), uncached(), kDeferred);
  const auto context = engine->create_context();
  Stream stream;
  const Tensor x = layers_input();
  Tensor y = Tensor::allocate(DType::f32, {4, 16});
  context->bind_input("x", x.bytes().data(), x.bytes().size());
  context->bind_output("y", y.mutable_bytes().data(), y.bytes().size());
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { run_layers(*context); }, [&] { context->enqueue(stream); }}) {
    const Error e = thrown_by(call);
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(e.parts().name, "test");
    EXPECT_EQ(e.parts().observed, "2 that are deferred: 'dense.weight', 'head.weight'");
  }
  engine->load_weights();
  context->enqueue(stream);
  stream.synchronize();
  EXPECT_TRUE(y.identical(run_layers(*context)));
  expect_layers(*engine, *context, 1);
}

TEST(DeferredWeights, KernelsArePreparedBeforeThem) {
  const auto engine = open_bytes(engine_bytes(layers_graph(1)), uncached(), kDeferred);
  const uint64_t kernels = engine->stats().kernels;
  EXPECT_GT(kernels, 0u);
  engine->load_weights();
  EXPECT_EQ(engine->stats().kernels, kernels);
  EXPECT_EQ(engine->stats().kernels_compiled, 0u);
}

TEST(DeferredWeights, ComeFromBytesOrAReader) {
  const std::vector<std::byte> bytes = engine_bytes(layers_graph(1));
  for (const bool from_reader : {false, true}) {
    BytesReader first(bytes), second(bytes);
    const auto engine = Runtime(quiet_logger()).open(first, "stream", kDeferred);
    EXPECT_LT(first.end, first.stated) << "weights are not read at once";
    const auto context = engine->create_context();
    const Error e = thrown_by([&] { engine->load_weights(); });
    EXPECT_EQ(e.parts().expected, "an engine opened from a file or from memory");
    if (from_reader)
      engine->load_weights(second);
    else
      engine->load_weights(bytes, nullptr);
    expect_layers(*engine, *context, 1);
    EXPECT_EQ(engine->serialize(), bytes);
  }
}

TEST(DeferredWeights, AreGivenOnce) {
  const std::vector<std::byte> bytes = engine_bytes(layers_graph(1));
  const auto engine = open_bytes(bytes, {}, kDeferred);
  engine->load_weights();
  EXPECT_EQ(thrown_by([&] { engine->load_weights(); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { open_bytes(bytes)->load_weights(bytes, nullptr); }).code(),
            ErrorCode::invalid_argument);
}

TEST(DeferredWeights, OfAnotherEngineOrDamagedAreRefused) {
  const std::vector<std::byte> bytes = engine_bytes(layers_graph(1));
  const auto engine = open_bytes(bytes, {}, kDeferred);
  const std::vector<std::byte> other = engine_bytes(layers_graph(2));
  EXPECT_EQ(thrown_by([&] { engine->load_weights(other, nullptr); }).code(), ErrorCode::incompatible);
  const std::vector<std::byte> garbage(1000, std::byte{7});
  EXPECT_EQ(thrown_by([&] { engine->load_weights(garbage, nullptr); }).code(), ErrorCode::incompatible);
  EXPECT_EQ(thrown_by([&] { engine->load_weights({}, nullptr); }).code(), ErrorCode::incompatible);
  std::vector<std::byte> damaged = bytes;
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(thrown_by([&] { engine->load_weights(damaged, nullptr); }).code(), ErrorCode::corrupt);
  BytesReader reader(bytes);
  reader.given = bytes.size() - 1;
  EXPECT_EQ(thrown_by([&] { engine->load_weights(reader); }).code(), ErrorCode::device);
  EXPECT_EQ(thrown_by([&] { run_layers(*engine->create_context()); }).code(), ErrorCode::invalid_argument);
  engine->load_weights(bytes, nullptr);
  expect_layers(*engine, *engine->create_context(), 1);
}

TEST(DeferredWeights, CannotBeSavedNorReplacedBeforeTheyAreThere) {
  const auto engine = open_bytes(engine_bytes(layers_graph(1), {.refit = RefitMode::whole}), {}, kDeferred);
  EXPECT_EQ(thrown_by([&] { engine->serialize(); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { Refitter refitter(engine); }).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ingot
