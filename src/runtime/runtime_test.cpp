#include "ingot/runtime.h"

#include <filesystem>

#include "engine/header.h"
#include "runtime/test_engines.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::map<std::string, Datum> affine_inputs() {
  return {{"x", Tensor::of<float>({1, 3}, {1, 2, 3})}, {"z", Tensor::of<float>({1, 3}, {0.5, 0.25, 0})}};
}

void expect_affine_result(const std::map<std::string, Datum>& outputs) {
  EXPECT_TRUE(outputs.at("y").tensor().identical(Tensor::of<float>({1, 3}, {10.5, 40.25, 90})));
}

TEST(Runtime, OpensAFileAndRunsIt) {
  TempFolder folder;
  const std::string path = folder.write("a.ingot", text_of(engine_bytes(affine_graph())));
  auto engine = Runtime(quiet_logger()).open(path);
  EXPECT_EQ(engine->name(), path);
  EXPECT_EQ(engine->device(), "cpu");
  expect_affine_result(engine->create_context()->run(affine_inputs()));
}

// Runs an engine of weights_graph().
void expect_weights(Context& context) {
  const Tensor y = context.run({{"x", Tensor::allocate(DType::f32, {1000})}}).at("y").tensor();
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(y.data<float>()[i], static_cast<float>(i));
}

TEST(Runtime, ContextOutlivesRuntimeEngineAndFile) {
  TempFolder folder;
  const std::string path = folder.write("a.ingot", text_of(engine_bytes(weights_graph())));
  std::unique_ptr<Context> context;
  {
    Runtime runtime(quiet_logger());
    context = runtime.open(path)->create_context();
  }
  std::filesystem::remove(path);
  expect_weights(*context);
  EXPECT_EQ(context->engine().name(), path);
  EXPECT_EQ(context->engine().stats().weight_bytes, 4000u);
}

TEST(Runtime, CopiesBytesThatNobodyOwns) {
  std::vector<std::byte> bytes = engine_bytes(weights_graph());
  auto engine = Runtime(quiet_logger()).open(bytes, nullptr, "in memory");
  std::fill(bytes.begin(), bytes.end(), std::byte{0xee});
  expect_weights(*engine->create_context());
}

TEST(Runtime, KeepsTheOwnerOfBytesWhileAnythingUsesThem) {
  const std::vector<std::byte> bytes = engine_bytes(weights_graph());
  auto owner = std::make_shared<Tensor>(Tensor::allocate(DType::u8, {static_cast<int64_t>(bytes.size())}));
  std::copy(bytes.begin(), bytes.end(), owner->mutable_bytes().begin());
  std::weak_ptr<const void> alive = owner;
  auto context = Runtime(quiet_logger()).open(owner->bytes(), owner, "in memory")->create_context();
  owner.reset();
  EXPECT_FALSE(alive.expired());
  expect_weights(*context);
  context.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(Runtime, OutputsMayBeWeightsAndOutliveTheEngine) {
  GraphBuilder g("constant");
  g.output("w", g.constant(Tensor::of<float>({1000}, std::vector<float>(1000, 2.5f))));
  auto outputs = open_graph(std::move(g).finish())->create_context()->run({});
  EXPECT_EQ(outputs.at("w").tensor().aligned().data<float>()[999], 2.5f);
}

TEST(Runtime, UnknownDeviceNamesThoseThatExist) {
  RuntimeConfig config;
  config.device = "abacus";
  config.recorder = std::make_shared<ErrorRecorder>();
  Error e = thrown_by([&] { Runtime runtime(quiet_logger(), config); });
  EXPECT_EQ(e.code(), ErrorCode::not_found);
  EXPECT_STREQ(e.what(), "device 'abacus': expected one of cpu, reference. Choose a device of this build.");
  EXPECT_EQ(config.recorder->count(), 1u);
  EXPECT_EQ(Runtime::devices(), (std::vector<std::string>{"cpu", "reference"}));
}

TEST(Runtime, RefusesImpossibleNumbersOfThreads) {
  for (int threads : {-1, 1025, INT32_MAX, INT32_MIN}) {
    RuntimeConfig config;
    config.threads = threads;
    const Error e = thrown_by([&] { Runtime runtime(quiet_logger(), config); });
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(e.what(), fmt::format("threads of a runtime: expected 0 (all CPUs) to 1024, found {}. Set "
                                    "RuntimeConfig::threads to what the machine has, or to 0.",
                                    threads));
  }
}

TEST(Runtime, RefusesWhatIsNoEngineFile) {
  TempFolder folder;
  Runtime runtime(quiet_logger());
  EXPECT_EQ(thrown_by([&] { runtime.open(folder.file("absent")); }).code(), ErrorCode::not_found);
  EXPECT_EQ(thrown_by([&] { runtime.open(folder.path()); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_by([&] { runtime.open(folder.write("empty", "")); }).code(), ErrorCode::corrupt);
  const std::string path = folder.write("text", std::string(500, 'a'));
  Error e = thrown_by([&] { runtime.open(path); });
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
  EXPECT_EQ(e.parts().name, path);
}

TEST(Runtime, RefusesATruncatedEngine) {
  std::vector<std::byte> bytes = engine_bytes(affine_graph());
  for (size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, bytes.size() / 2, bytes.size() - 1}) {
    Error e =
        thrown_by([&] { Runtime(quiet_logger()).open(std::span(bytes).first(size), nullptr, "short"); });
    EXPECT_EQ(e.code(), ErrorCode::corrupt) << size;
  }
}

TEST(Runtime, RefusesAnEngineThatNeedsAnUnknownFeature) {
  std::vector<std::byte> bytes = engine_bytes(affine_graph());
  EngineHeader header = decode_header(bytes);
  header.features |= 1u << 30;
  const auto changed = encode_header(header);
  std::copy(changed.begin(), changed.end(), bytes.begin());
  Error e = thrown_by([&] { Runtime(quiet_logger()).open(bytes, nullptr, "future"); });
  EXPECT_EQ(e.code(), ErrorCode::incompatible);
  EXPECT_EQ(e.parts().observed, "feature 30");
}

TEST(Runtime, OpensButDoesNotRunAnEngineWithoutItsWeights) {
  const std::vector<std::byte> bytes = engine_bytes(weights_graph(), {.stripped = true});
  auto engine = Runtime(quiet_logger()).open(bytes, nullptr, "stripped");
  EXPECT_EQ(engine->inputs().size(), 1u);
  Error e = thrown_by([&] { engine->create_context(); });
  EXPECT_EQ(e.code(), ErrorCode::incompatible);
  EXPECT_EQ(e.parts().observed.find("stripped of 1 constant"), 0u) << e.what();
}

TEST(Runtime, WarnsOfAnEngineForOtherDevices) {
  KeepingLogger logger(LogLevel::warning);
  auto engine =
      Runtime(logger).open(engine_bytes(affine_graph(), {.targets = {"cuda", "reference"}}), nullptr, "gpu");
  EXPECT_TRUE(
      logger.has(LogLevel::warning, "engine 'gpu' was built for cuda, reference, but is opened for cpu"));
  expect_affine_result(engine->create_context()->run(affine_inputs()));
}

TEST(Runtime, ChecksValidityFromTheFile) {
  TempFolder folder;
  Runtime runtime(quiet_logger());
  const std::string whole = text_of(engine_bytes(affine_graph()));
  EXPECT_EQ(runtime.check_validity(folder.write("whole", whole)).status, EngineStatus::valid);

  EngineValidity cut = runtime.check_validity(folder.write("cut", whole.substr(0, whole.size() - 1)));
  EXPECT_EQ(cut.status, EngineStatus::invalid);
  EXPECT_TRUE(cut.has(EngineReason::truncated));

  EXPECT_TRUE(runtime.check_validity(folder.write("empty", "")).has(EngineReason::malformed));
  EXPECT_TRUE(runtime.check_validity(folder.write("text", "short")).has(EngineReason::malformed));
  EXPECT_EQ(thrown_by([&] { runtime.check_validity(folder.file("absent")); }).code(), ErrorCode::not_found);
  EXPECT_EQ(thrown_by([&] { runtime.check_validity(folder.path()); }).code(), ErrorCode::invalid_argument);
}

TEST(Runtime, LogsWhatItOpensAndPassesDiagnosticsOn) {
  KeepingLogger logger(LogLevel::verbose);
  auto engine = open_graph(affine_graph(), {}, {}, logger);
  EXPECT_TRUE(logger.has(LogLevel::info, "opened engine 'test' for cpu in "));
  auto context = engine->create_context();
  thrown_by([&] { context->set_shape("w", {1}); });
  EXPECT_TRUE(logger.has(LogLevel::error, "input 'w': expected one of 'x', 'z'"));
}

TEST(Runtime, RecorderTakesErrorsInsteadOfTheLogger) {
  KeepingLogger logger(LogLevel::verbose);
  RuntimeConfig config;
  config.recorder = std::make_shared<ErrorRecorder>();
  auto engine = open_graph(affine_graph(), {}, config, logger);
  thrown_by([&] { engine->input("w"); });
  thrown_by([&] { engine->create_context()->run({}); });
  ASSERT_EQ(config.recorder->count(), 2u);
  EXPECT_EQ(config.recorder->errors()[0].name, "w");
  EXPECT_FALSE(logger.has(LogLevel::error, ""));
}

}  // namespace
}  // namespace ingot
