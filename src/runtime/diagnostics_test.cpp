// Which recorder or logger is told of an error: that of the object, else the one it inherited.
#include <array>

#include "base/cpu_count.h"
#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

std::shared_ptr<ErrorRecorder> recorder() { return std::make_shared<ErrorRecorder>(); }

// An inference of reshape_graph() that fails while it runs.
struct Failing {
  explicit Failing(const Engine& engine, std::shared_ptr<ErrorRecorder> own = nullptr)
      : context(engine.create_context(ContextOptions{.name = "failing", .recorder = std::move(own)})) {
    context->set_shape("x", {2});
    context->bind_input("x", std::span<const float>(x));
    context->bind_input("shape", std::span<const int64_t>(shape));
    context->bind_output("y", std::span<float>(y));
  }
  void run(Stream& stream) {
    context->enqueue(stream);
    thrown_by([&] { stream.synchronize(); });
  }

  std::unique_ptr<Context> context;
  std::array<float, 2> x = {1, 2}, y{};
  std::array<int64_t, 2> shape = {3, 5};
};

TEST(Recorder, OfAContextTakesItsErrorsAndThoseOfItsInferences) {
  const auto of_runtime = recorder(), of_context = recorder();
  const auto engine = open_graph(reshape_graph(), {}, {.recorder = of_runtime});
  Failing own(*engine, of_context), inheriting(*engine);
  thrown_by([&] { own.context->set_shape("nobody", {2}); });
  Stream stream;
  own.run(stream);
  ASSERT_EQ(of_context->count(), 2u);
  EXPECT_EQ(of_context->errors()[0].name, "nobody");
  EXPECT_EQ(of_context->errors()[1].object.find("context 'failing': "), 0u);
  EXPECT_EQ(of_runtime->count(), 0u);
  inheriting.run(stream);
  EXPECT_EQ(of_context->count(), 2u);
  EXPECT_EQ(of_runtime->count(), 1u);
}

TEST(Recorder, OfAnEngineTakesErrorsOfItsOpeningAndIsInheritedByItsContexts) {
  const auto of_runtime = recorder(), of_engine = recorder();
  const Runtime runtime(quiet_logger(), {.recorder = of_runtime});
  const OpenOptions options{.recorder = of_engine};
  thrown_by([&] { runtime.open("no such file", options); });
  EXPECT_EQ(of_engine->count(), 1u);
  const auto engine = runtime.open(engine_bytes(reshape_graph()), nullptr, "own", options);
  Failing failing(*engine);
  Stream stream;
  failing.run(stream);
  EXPECT_EQ(of_engine->count(), 2u);
  thrown_by([&] { engine->input("nobody"); });
  EXPECT_EQ(of_engine->count(), 3u);
  EXPECT_EQ(of_runtime->count(), 0u);
  thrown_by([&] { runtime.open("no such file"); });
  EXPECT_EQ(of_runtime->count(), 1u);
}

TEST(Recorder, WithoutOneTheErrorsOfInferencesReachTheLogger) {
  KeepingLogger logger(LogLevel::error);
  Failing failing(*open_graph(reshape_graph(), {}, {}, logger));
  Stream stream;
  failing.run(stream);
  EXPECT_TRUE(logger.has(LogLevel::error, "context 'failing': "));
}

TEST(Recorder, OfAStreamTakesWhatIsNoInference) {
  const auto of_stream = recorder(), of_runtime = recorder();
  Stream stream({.recorder = of_stream});
  char byte = 0;
  thrown_by([&] { stream.copy(&byte, nullptr, 1); });
  EXPECT_EQ(of_stream->count(), 1u);
  stream.call([] { throw Error({.code = ErrorCode::device, .object = "the call"}); });
  thrown_by([&] { stream.synchronize(); });
  ASSERT_EQ(of_stream->count(), 2u) << "once, although synchronize() throws it too";
  EXPECT_EQ(of_stream->errors()[1].object, "the call");
  Failing failing(*open_graph(reshape_graph(), {}, {.recorder = of_runtime}));
  failing.run(stream);
  EXPECT_EQ(of_stream->count(), 2u);
  EXPECT_EQ(of_runtime->count(), 1u);
}

TEST(Recorder, AStreamWithoutOneTellsItsLogger) {
  KeepingLogger logger(LogLevel::error);
  Stream stream({.logger = &logger}), in_line = Stream::inline_stream({.logger = &logger});
  thrown_by([&] { stream.call({}); });
  EXPECT_TRUE(logger.has(LogLevel::error, "call on a stream"));
  thrown_by([&] { in_line.call([] { throw std::runtime_error("out of tea"); }); });
  EXPECT_TRUE(logger.has(LogLevel::error, "out of tea"));
}

TEST(Settings, WhatADeviceHasNoUseForIsTold) {
  KeepingLogger logger(LogLevel::info);
  RuntimeConfig config;
  EXPECT_TRUE(open_graph(affine_graph(), {}, config)->ignored_settings().empty());
  config.capture = CaptureStrategy::whole_graph;
  config.auxiliary_streams = 2;
  config.threads = 2;
  const auto engine = open_graph(affine_graph(), {}, config, logger);
  ASSERT_EQ(engine->ignored_settings().size(), 2u);
  EXPECT_EQ(engine->ignored_settings()[0].name, "capture");
  EXPECT_EQ(engine->ignored_settings()[1].name, "auxiliary_streams");
  EXPECT_TRUE(logger.has(LogLevel::info, "'capture' has no effect on the device 'cpu': "));
  config.device = "reference";
  EXPECT_EQ(open_graph(affine_graph(), {}, config)->ignored_settings().size(), 3u) << "one thread as well";
}

TEST(Settings, ImpossibleOnesAreRefused) {
  EXPECT_EQ(thrown_by([] { Runtime(quiet_logger(), {.auxiliary_streams = -1}); }).parts().observed, "-1");
  const Error e = thrown_by([] { Runtime(quiet_logger(), {.cpus = {1 << 20}}); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().object, "CPUs of a runtime");
  EXPECT_EQ(thrown_by([] { Stream({.cpus = {-7}}); }).parts().object, "CPUs of a stream");
}

TEST(Settings, ThreadsRunOnTheCpusNamed) {
  const std::vector<int> before = allowed_cpus(), last = {before.back()};
  const auto context = open_graph(affine_graph(), {}, {.cpus = last})->create_context();
  EXPECT_EQ(context->execution_profile().threads, 1) << "as many as there are CPUs";
  EXPECT_EQ(allowed_cpus(), before) << "the caller is left alone";
  Stream stream({.cpus = last});
  std::vector<int> of_stream;
  stream.call([&] { of_stream = allowed_cpus(); });
  stream.synchronize();
  EXPECT_EQ(of_stream, last);
}

}  // namespace
}  // namespace ingot
