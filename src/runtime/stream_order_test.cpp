// Events, memory, copies and calls in the order of a stream, and inline streams. Work is held back by waiting
// for the test, never by time.
#include <array>
#include <future>
#include <set>

#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

// Holds a stream until it is opened.
class Barrier {
 public:
  explicit Barrier(Stream& stream) {
    stream.call([opened = opened_.get_future().share()] { opened.wait(); });
  }
  void open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

// y = x * {10, 20, 30} + z for one row.
struct Affine {
  explicit Affine(const std::string& name = "affine", RuntimeConfig config = {})
      : context(open_graph(affine_graph(), {}, std::move(config))->create_context(name)) {
    context->set_shape("x", {1, 3});
    context->set_shape("z", {1, 3});
    context->bind_input("x", std::span<const float>(x));
    context->bind_input("z", std::span<const float>(z));
    context->bind_output("y", std::span(y));
  }
  std::unique_ptr<Context> context;
  Floats x = {1, 2, 3}, z = {0, 0, 0}, y = {0, 0, 0};
};

void fail(Stream& stream, const std::string& what = "test") {
  stream.call([what] { throw Error({.code = ErrorCode::device, .object = what}); });
}

TEST(StreamOrder, TheExampleOfThePage) {
  Affine a;
  const Floats host_input = {1, 1, 1};
  Floats host_output(3);
  Stream stream;
  Barrier barrier(stream);
  void* input = stream.allocate(12);
  void* output = stream.allocate(12);
  stream.copy(input, host_input.data(), 12);
  a.context->bind_input("x", input, 12);
  a.context->bind_output("y", output, 12);
  a.context->enqueue(stream);
  stream.free(input);
  stream.copy(host_output.data(), output, 12);
  stream.free(output);
  EXPECT_EQ(host_output, Floats(3)) << "nothing has run yet";
  barrier.open();
  stream.synchronize();
  EXPECT_EQ(host_output, (Floats{10, 20, 30}));
}

TEST(StreamOrder, InputsAreReadWhenTheInferenceRuns) {
  Affine a;
  Stream stream;
  Barrier barrier(stream);
  a.context->enqueue(stream);
  a.x = {4, 5, 6};  // breaks the rule that inputs must not change, and shows that there is no hidden copy
  barrier.open();
  stream.synchronize();
  EXPECT_EQ(a.y, (Floats{40, 100, 180}));
}

TEST(StreamOrder, FreedMemoryServesLaterWorkOfTheStream) {
  Stream stream;
  Barrier barrier(stream);
  const std::array<char, 4> first = {'a', 'b', 'c', 'd'}, second = {'e', 'f', 'g', 'h'};
  std::array<char, 4> got{}, got_again{};
  std::set<void*> places;
  auto pass_on = [&](const std::array<char, 4>& from, std::array<char, 4>& to) {
    void* memory = stream.allocate(4);
    places.insert(memory);
    stream.copy(memory, from.data(), 4);
    stream.copy(to.data(), memory, 4);
    stream.free(memory);
  };
  pass_on(first, got);
  pass_on(second, got_again);
  EXPECT_EQ(places.size(), 1u);
  barrier.open();
  stream.synchronize();
  EXPECT_EQ(got, first);
  EXPECT_EQ(got_again, second);
}

TEST(StreamOrder, ChangingSizesHoldBoundedMemory) {
  Stream stream;
  for (size_t bytes = 1; bytes < 100'000; bytes += 37) stream.free(stream.allocate(bytes));
  EXPECT_LT(stream.reserved_bytes(), 16u * 100'000) << "the sum of all sizes is 1,300 times as much";
}

TEST(StreamOrder, TrimKeepsWhatWorkStillUses) {
  Stream stream;
  Barrier barrier(stream);
  std::array<char, 4> from = {1, 2, 3, 4};
  void* memory = stream.allocate(1000);
  stream.copy(memory, from.data(), 4);
  stream.free(memory);
  stream.trim();
  EXPECT_GE(stream.reserved_bytes(), 1000u);
  barrier.open();
  stream.synchronize();
  stream.trim();
  EXPECT_EQ(stream.reserved_bytes(), 0u);
}

TEST(StreamOrder, MemoryThatTheStreamDoesNotKnow) {
  Stream stream, other;
  void* memory = stream.allocate(8);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  EXPECT_EQ(thrown_by([&] { other.free(memory); }).code(), ErrorCode::invalid_argument);
  stream.free(memory);
  EXPECT_EQ(thrown_by([&] { stream.free(memory); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(stream.allocate(0), nullptr);
  stream.free(nullptr);
  EXPECT_EQ(thrown_by([&] { stream.allocate(SIZE_MAX / 2); }).code(), ErrorCode::out_of_memory);
  EXPECT_NE(stream.allocate(8), nullptr) << "a refused allocation changes nothing";
}

TEST(StreamOrder, NullCopiesAndEmptyCallsAreRefused) {
  Stream stream;
  char byte = 0;
  EXPECT_EQ(thrown_by([&] { stream.copy(&byte, nullptr, 1); }).parts().expected, "memory of 1 bytes to read");
  EXPECT_EQ(thrown_by([&] { stream.copy(nullptr, &byte, 1); }).parts().expected,
            "memory of 1 bytes to write");
  stream.copy(nullptr, nullptr, 0);
  EXPECT_EQ(thrown_by([&] { stream.call({}); }).code(), ErrorCode::invalid_argument);
}

TEST(StreamOrder, CallsMayThrowAnything) {
  Stream stream;
  stream.call([] { throw std::runtime_error("out of tea"); });
  const Error e = thrown_by([&] { stream.synchronize(); });
  EXPECT_EQ(e.parts().object, "call on a stream");
  EXPECT_EQ(e.parts().observed, "out of tea");
}

TEST(Event, IsReachedWhenTheWorkBeforeItHasEnded) {
  Stream stream;
  Event event;
  EXPECT_TRUE(event.is_complete()) << "never recorded";
  event.synchronize();
  Barrier barrier(stream), rest(stream);
  stream.record(event);
  EXPECT_FALSE(event.is_complete());
  EXPECT_FALSE(stream.is_idle());
  barrier.open();
  rest.open();
  event.synchronize();
  EXPECT_TRUE(event.is_complete());
  stream.synchronize();
  EXPECT_TRUE(stream.is_idle());
}

TEST(Event, OrdersOneStreamBehindAnother) {
  Stream producer, consumer;
  Barrier barrier(producer);
  Affine first("first"), second("second");
  second.context->bind_input("x", std::span<const float>(first.y));
  Event ready;
  first.context->enqueue(producer);
  producer.record(ready);
  consumer.wait(ready);
  second.context->enqueue(consumer);
  EXPECT_FALSE(consumer.is_idle());
  barrier.open();
  consumer.synchronize();
  EXPECT_EQ(second.y, (Floats{100, 800, 2700}));
}

TEST(Event, WaitsForThePointThatItHadAtTheCall) {
  Stream first, second;
  Event event;
  first.record(event);
  second.wait(event);
  Barrier barrier(first);
  first.record(event);  // not what `second` waits for
  second.synchronize();
  EXPECT_FALSE(event.is_complete());
  barrier.open();
  event.synchronize();
}

TEST(Event, CopiesAreTheSameEvent) {
  Stream stream;
  Event event;
  const Event copy = event;
  Barrier barrier(stream);
  stream.record(event);
  EXPECT_FALSE(copy.is_complete());
  barrier.open();
  copy.synchronize();
  EXPECT_TRUE(event.is_complete());
}

TEST(Event, CarriesTheErrorOfTheWorkBeforeIt) {
  Stream stream, behind;
  Event event;
  fail(stream, "the cause");
  stream.record(event);
  EXPECT_EQ(thrown_by([&] { event.synchronize(); }).parts().object, "the cause");
  EXPECT_TRUE(event.is_complete());

  bool was_called = false;
  behind.wait(event);
  behind.call([&] { was_called = true; });
  const Error e = thrown_by([&] { behind.synchronize(); });
  EXPECT_EQ(e.parts().object, "the cause");
  EXPECT_EQ(e.parts().remedy, "Not run, as queued behind it: 1.");
  EXPECT_FALSE(was_called);
  EXPECT_EQ(thrown_by([&] { stream.synchronize(); }).parts().object, "the cause");
}

// Else its memory could be freed while the other stream still uses it.
TEST(Event, AStreamThatFailedStillWaits) {
  Stream slow, failing;
  Barrier barrier(slow);
  Event used, after;
  slow.record(used);
  fail(failing);
  failing.wait(used);
  failing.record(after);
  EXPECT_FALSE(after.is_complete());
  barrier.open();
  thrown_by([&] { after.synchronize(); });
  EXPECT_TRUE(used.is_complete());
  thrown_by([&] { failing.synchronize(); });
}

TEST(Event, WaitingForItselfIsRefused) {
  Stream stream;
  Stream in_line = Stream::inline_stream();
  Event event;
  std::promise<void> recorded;
  std::vector<ErrorCode> codes;
  stream.call([&] {
    recorded.get_future().wait();
    codes.push_back(thrown_by([&] { event.synchronize(); }).code());
    codes.push_back(thrown_by([&] { in_line.wait(event); }).code());
  });
  stream.record(event);
  recorded.set_value();
  stream.synchronize();
  EXPECT_EQ(codes, (std::vector<ErrorCode>{ErrorCode::invalid_argument, ErrorCode::invalid_argument}));
}

TEST(Event, TellsWhenInputsAreConsumed) {
  Affine a;
  Stream stream;
  Event consumed;
  a.context->set_input_consumed_event(consumed);
  Barrier barrier(stream);
  a.context->enqueue(stream);
  EXPECT_FALSE(consumed.is_complete());
  barrier.open();
  consumed.synchronize();
  a.x = {9, 9, 9};
  stream.synchronize();
  EXPECT_EQ(a.y, (Floats{10, 40, 90}));

  fail(stream, "before");
  a.context->enqueue(stream);
  EXPECT_EQ(thrown_by([&] { consumed.synchronize(); }).parts().object, "before") << "reached if not run, too";
  a.context->set_input_consumed_event(std::nullopt);
  thrown_by([&] { stream.synchronize(); });
}

TEST(InlineStream, RunsInTheCall) {
  Affine a;
  Stream stream = Stream::inline_stream();
  std::thread::id ran_on;
  stream.call([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_TRUE(ran_on == std::this_thread::get_id());
  a.context->enqueue(stream);
  EXPECT_EQ(a.y, (Floats{10, 40, 90}));
  EXPECT_EQ(a.context->result_shape("y"), (Shape{1, 3}));
  EXPECT_TRUE(stream.is_idle());
  stream.synchronize();
  Event event;
  stream.record(event);
  EXPECT_TRUE(event.is_complete());
}

TEST(InlineStream, WaitsForEventsOfOthers) {
  Stream other;
  Event event;
  bool has_run = false;
  other.call([&] { has_run = true; });
  other.record(event);
  Stream stream = Stream::inline_stream();
  stream.wait(event);
  EXPECT_TRUE(has_run);
}

TEST(InlineStream, ThrowsFromTheCallAndReportsOnce) {
  RuntimeConfig config;
  config.recorder = std::make_shared<ErrorRecorder>();
  auto context = open_graph(reshape_graph(), {}, config)->create_context("bad");
  const Floats x = {1, 2};
  const std::array<int64_t, 2> shape = {3, 5};
  context->set_shape("x", {2});
  context->bind_input("x", std::span<const float>(x));
  context->bind_input("shape", std::span<const int64_t>(shape));
  context->set_output_allocator("y", [](auto&&...) { return nullptr; });
  Stream stream = Stream::inline_stream();
  const Error e = thrown_by([&] { context->enqueue(stream); });
  EXPECT_EQ(e.parts().object.find("context 'bad': "), 0u) << e.what();
  EXPECT_EQ(config.recorder->count(), 1u);
  EXPECT_EQ(context->stats().failed, 1u);
  stream.synchronize();
  stream.close();
  EXPECT_EQ(thrown_by([&] { context->enqueue(stream); }).parts().observed, "a closed one");
  EXPECT_EQ(context->stats().enqueued, 1u);
}

TEST(InlineStream, RefusesAContextThatIsPendingElsewhere) {
  Affine a;
  Stream stream;
  Barrier barrier(stream);
  a.context->enqueue(stream);
  Stream in_line = Stream::inline_stream();
  EXPECT_EQ(thrown_by([&] { a.context->enqueue(in_line); }).code(), ErrorCode::invalid_argument);
  barrier.open();
  stream.synchronize();
  a.context->enqueue(in_line);
  EXPECT_EQ(a.context->stats().completed, 2u);
}

}  // namespace
}  // namespace ingot
