#include <array>
#include <chrono>
#include <ctime>
#include <future>
#include <thread>

#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

// An inference that hands over control: its output allocator is the test's.
struct Gate {
  explicit Gate(const std::string& name,
                const std::shared_ptr<const Engine>& engine = open_graph(reshape_graph()))
      : context(engine->create_context(name)) {
    context->set_shape("x", {2});
    context->bind_input("x", std::span<const float>(x));
    context->bind_input("shape", std::span<const int64_t>(shape));
  }
  void enqueue(Stream& stream, const std::function<void()>& at_output) {
    context->set_output_allocator("y", [this, at_output](const std::string&, const Shape&, size_t) {
      at_output();
      return y.data();
    });
    context->enqueue(stream);
  }

  std::unique_ptr<Context> context;
  std::array<float, 2> x = {1, 2}, y{};
  std::array<int64_t, 2> shape = {1, 2};
};

TEST(Stream, RunsInOrder) {
  Gate a("a"), b("b");
  Stream stream;
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) (i % 2 ? a : b).enqueue(stream, [&order, i] { order.push_back(i); });
  stream.synchronize();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Stream, EnqueueDoesNotWait) {
  Gate a("a");
  Stream stream;
  std::promise<void> open;
  a.enqueue(stream, [&] { open.get_future().wait(); });
  EXPECT_EQ(a.context->stats().enqueued, 1u);
  EXPECT_EQ(a.context->stats().completed, 0u);
  open.set_value();
  stream.synchronize();
  EXPECT_EQ(a.context->stats().completed, 1u);
}

TEST(Stream, SynchronizeNamesTheContextThatFailedAndWhatWasSkipped) {
  Gate good("good"), bad("bad");
  bad.shape = {3, 5};
  Stream stream;
  auto nothing = [] {};
  good.enqueue(stream, nothing);
  std::promise<void> open;
  good.enqueue(stream, [&] { open.get_future().wait(); });
  bad.enqueue(stream, nothing);
  good.enqueue(stream, nothing);
  good.enqueue(stream, nothing);
  open.set_value();
  Error e = thrown_by([&] { stream.synchronize(); });
  EXPECT_EQ(e.parts().object.find("context 'bad': "), 0u) << e.what();
  EXPECT_NE(e.parts().remedy.find("Not run, as queued behind it: 2."), std::string::npos) << e.what();
  EXPECT_EQ(good.context->stats().completed, 2u);
  EXPECT_EQ(good.context->stats().skipped, 2u);
  EXPECT_EQ(bad.context->stats().failed, 1u);

  stream.synchronize();  // an error is thrown once
  good.enqueue(stream, nothing);
  stream.synchronize();
  EXPECT_EQ(good.context->stats().completed, 3u);
}

TEST(Stream, FailuresAreReportedOnce) {
  RuntimeConfig config;
  config.recorder = std::make_shared<ErrorRecorder>();
  Gate bad("bad", open_graph(reshape_graph(), {}, config));
  bad.shape = {3, 5};
  Stream stream;
  bad.enqueue(stream, [] {});
  thrown_by([&] { stream.synchronize(); });
  ASSERT_EQ(config.recorder->count(), 1u);
  EXPECT_THROW(bad.context->run(
                   {{"x", Tensor::allocate(DType::f32, {2})}, {"shape", Tensor::of<int64_t>({2}, {3, 5})}}),
               Error);
  EXPECT_EQ(config.recorder->count(), 2u);
}

TEST(Stream, ClosedStreamsRefuseWorkButFinishWhatTheyHave) {
  Gate a("a");
  Stream stream;
  a.enqueue(stream, [] {});
  stream.close();
  EXPECT_EQ(a.context->stats().completed, 1u);
  Error e = thrown_by([&] { a.context->enqueue(stream); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().observed, "a closed one");
  EXPECT_EQ(a.context->stats().enqueued, 1u);
  stream.close();
  stream.synchronize();
}

TEST(Stream, DestructionFinishesWhatIsQueued) {
  Gate a("a");
  {
    Stream stream;
    for (int i = 0; i < 5; ++i) a.enqueue(stream, [] {});
  }
  EXPECT_EQ(a.context->stats().completed, 5u);
}

TEST(Stream, InferencesOutliveTheirContextAndEngine) {
  std::array<float, 2> x = {1, 2}, y{};
  std::array<int64_t, 2> shape = {1, 2};
  std::promise<void> open;
  Stream stream;
  {
    auto context = open_graph(reshape_graph())->create_context();
    context->set_shape("x", {2});
    context->bind_input("x", std::span<const float>(x));
    context->bind_input("shape", std::span<const int64_t>(shape));
    context->set_output_allocator("y", [&](const std::string&, const Shape&, size_t) {
      open.get_future().wait();
      return y.data();
    });
    context->enqueue(stream);
  }
  open.set_value();
  stream.synchronize();
  EXPECT_EQ(y, x);
}

TEST(Stream, AContextIsOnOneStreamAtATime) {
  Gate a("a");
  Stream first, second;
  std::promise<void> open;
  a.enqueue(first, [&] { open.get_future().wait(); });
  Error e = thrown_by([&] { a.context->enqueue(second); });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(e.parts().name, "a");
  EXPECT_EQ(thrown_by([&] {
              a.context->run(
                  {{"x", Tensor::allocate(DType::f32, {2})}, {"shape", Tensor::of<int64_t>({2}, {1, 2})}});
            }).code(),
            ErrorCode::invalid_argument);
  open.set_value();
  first.synchronize();
  a.enqueue(second, [] {});
  second.synchronize();
  EXPECT_EQ(a.context->stats().completed, 2u);
}

TEST(Stream, WaitingForItselfIsRefused) {
  Gate a("a");
  Stream stream;
  std::vector<ErrorCode> codes;
  a.enqueue(stream, [&] {
    codes.push_back(thrown_by([&] { stream.synchronize(); }).code());
    codes.push_back(thrown_by([&] { stream.close(); }).code());
  });
  stream.synchronize();
  EXPECT_EQ(codes, (std::vector<ErrorCode>{ErrorCode::invalid_argument, ErrorCode::invalid_argument}));
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(Stream, SleepsWhenIdle) {
  std::array<Stream, 8> streams;
  const double before = process_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(process_cpu_seconds() - before, 0.05);
}

}  // namespace
}  // namespace ingot
