#include "ingot/logger.h"

#include <gtest/gtest.h>

#include <thread>

namespace ingot {
namespace {

class Lines : public Logger {
 public:
  using Logger::Logger;
  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 protected:
  void log(LogLevel level, std::string_view message) noexcept override {
    std::lock_guard lock(mutex_);
    lines_.push_back(fmt::format("{}: {}", to_string(level), message));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

Error error_named(std::string name) {
  return Error(
      {.code = ErrorCode::corrupt, .object = "engine file", .name = std::move(name), .observed = "rot"});
}

TEST(LoggerTest, PassesOnWhatMattersAtLeastAsMuchAsItsLevel) {
  Lines logger;
  for (LogLevel l : {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::verbose})
    logger.write(l, "m");
  EXPECT_EQ(logger.lines(), (std::vector<std::string>{"error: m", "warning: m"}));
  logger.set_level(LogLevel::verbose);
  EXPECT_TRUE(logger.wants(LogLevel::verbose));
  logger.write(LogLevel::verbose, "n");
  EXPECT_EQ(logger.lines().back(), "verbose: n");
}

TEST(ErrorRecorderTest, KeepsTheFirstOnesCountsAllAndClears) {
  ErrorRecorder recorder(2);
  for (const char* name : {"a", "b", "c"}) recorder.record(error_named(name).parts());
  EXPECT_EQ(recorder.count(), 3u);
  ASSERT_EQ(recorder.errors().size(), 2u);
  EXPECT_EQ(recorder.errors()[1].name, "b");
  recorder.clear();
  EXPECT_EQ(recorder.count(), 0u);
  EXPECT_TRUE(recorder.errors().empty());
}

TEST(ErrorRecorderTest, TakesErrorsFromSeveralThreads) {
  ErrorRecorder recorder(50);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        recorder.record(error_named("x").parts());
        EXPECT_LE(recorder.errors().size(), 50u);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(recorder.count(), 400u);
}

TEST(DiagnosticsTest, AnErrorGoesToTheRecorderOfTheParentOrElseToTheLogger) {
  Lines logger;
  Diagnostics parent{&logger, std::make_shared<ErrorRecorder>()};
  Diagnostics child = parent;
  child.report(error_named("a"));
  EXPECT_EQ(parent.recorder->errors().at(0).name, "a");
  EXPECT_TRUE(logger.lines().empty());
  child.recorder = nullptr;
  child.report(error_named("b"));
  EXPECT_EQ(logger.lines(), std::vector<std::string>{"error: engine file 'b': rot"});
}

TEST(DiagnosticsTest, WithoutLoggerAndRecorderNothingHappens) {
  Diagnostics none;
  none.log(LogLevel::error, "m");
  none.report(error_named("a"));
  EXPECT_FALSE(none.wants(LogLevel::error));
}

}  // namespace
}  // namespace ingot
