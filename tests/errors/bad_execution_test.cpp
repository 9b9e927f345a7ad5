// Calls of the library that cannot be done: each is an Error with a code, the tensor, what was expected, what
// was there and what to do, on every device, and the context stays usable.
#include <gtest/gtest.h>

#include <array>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "support/quiet_logger.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;

// y = x + {1, 2, 3} over f32[n, 3], n from 1 to 16, and w = x in a shape that is data.
Graph sample() {
  GraphBuilder g("sample");
  const Value x = g.input("x", Type::tensor(DType::f32, {Dim::symbol("n", 1, 16), 3}));
  const Value shape = g.input("shape", Type::tensor(DType::i64, {2}));
  g.output("y", g.add(x, g.constant(Tensor::of<float>({3}, {1, 2, 3}))));
  g.output("w", g.reshape(x, shape));
  return std::move(g).finish();
}

class BadExecution : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    BuilderConfig config;
    config.profiles = {{"few", {}, {{"n", {1, 2, 4}}}}, {"many", {}, {{"n", {8, 8, 8}}}}};
    const std::vector<std::byte> bytes = build_engine(sample(), config);
    RuntimeConfig runtime;
    runtime.device = GetParam();
    runtime.recorder = recorder_;
    context_ = Runtime(quiet_logger(), runtime).open(bytes, nullptr, "sample")->create_context("tested");
    bind();
  }

  void bind() {
    context_->set_shape("x", {2, 3});
    context_->bind_input("x", std::span<const float>(x_));
    context_->bind_input("shape", std::span<const int64_t>(shape_));
    context_->bind_output("y", std::span(y_));
    context_->bind_output("w", std::span(w_));
  }

  // The call throws an Error with this code and name and all other parts, which the recorder has too; then
  // the context infers as before.
  Error expect_error(const std::function<void()>& call, ErrorCode code, const std::string& name) {
    recorder_->clear();
    const Error e = thrown_by(call);
    SCOPED_TRACE(e.what());
    EXPECT_EQ(e.code(), code);
    EXPECT_EQ(e.parts().name, name);
    EXPECT_NE(e.parts().object, "");
    EXPECT_NE(e.parts().expected, "");
    EXPECT_NE(e.parts().remedy, "");
    EXPECT_EQ(recorder_->count(), 1u);
    bind();
    expect_usable();
    return e;
  }

  void expect_usable() {
    shape_ = {3, 2};
    y_.assign(6, 0);
    context_->enqueue(stream_);
    stream_.synchronize();
    EXPECT_EQ(y_, (Floats{2, 4, 6, 5, 7, 9}));
    EXPECT_EQ(w_, x_);
    EXPECT_EQ(context_->result_shape("w"), (Shape{3, 2}));
  }

  void enqueue() {
    context_->enqueue(stream_);
    stream_.synchronize();
  }

  std::shared_ptr<ErrorRecorder> recorder_ = std::make_shared<ErrorRecorder>();
  std::unique_ptr<Context> context_;
  Floats x_ = {1, 2, 3, 4, 5, 6}, y_ = Floats(6), w_ = Floats(6);
  std::array<int64_t, 2> shape_ = {3, 2};
  Stream stream_;
};

INSTANTIATE_TEST_SUITE_P(Devices, BadExecution, testing::Values("cpu", "reference"));

TEST_P(BadExecution, WrongRank) {
  const Error e = expect_error([&] { context_->set_shape("x", {6}); }, ErrorCode::invalid_argument, "x");
  EXPECT_EQ(e.parts().observed, "shape [6]");
  expect_error(
      [&] {
        context_->run(
            {{"x", Tensor::allocate(DType::f32, {6})}, {"shape", Tensor::of<int64_t>({2}, {3, 2})}});
      },
      ErrorCode::invalid_argument, "x");
}

TEST_P(BadExecution, WrongFixedDimension) {
  expect_error([&] { context_->set_shape("x", {2, 4}); }, ErrorCode::invalid_argument, "x");
  expect_error([&] { context_->set_shape("shape", {3}); }, ErrorCode::invalid_argument, "shape");
}

TEST_P(BadExecution, DimensionOutsideTheProfile) {
  const Error e = expect_error([&] { context_->set_shape("x", {5, 3}); }, ErrorCode::invalid_argument, "x");
  EXPECT_EQ(e.parts().expected, "a shape from [1, 3] to [4, 3], by profile 0 'few'");
  EXPECT_EQ(e.parts().observed, "[5, 3]");
  expect_error([&] { context_->set_shape("x", {-2, 3}); }, ErrorCode::invalid_argument, "x");
  expect_error([&] { context_->set_profile(2); }, ErrorCode::invalid_argument, "tested");
}

TEST_P(BadExecution, UnknownTensorName) {
  float* const y = y_.data();
  const auto not_found = ErrorCode::not_found;
  const Error e = expect_error([&] { context_->set_shape("X", {2, 3}); }, not_found, "X");
  EXPECT_EQ(e.parts().expected, "one of 'x', 'shape'");
  expect_error([&] { context_->bind_input("y", y, 24); }, not_found, "y");
  expect_error([&] { context_->bind_output("x", y, 24); }, not_found, "x");
  expect_error([&] { context_->set_output_allocator("v", nullptr); }, not_found, "v");
  expect_error([&] { context_->shape("v"); }, not_found, "v");
  expect_error([&] { context_->required_bytes("v"); }, not_found, "v");
  expect_error([&] { context_->result_shape("x"); }, not_found, "x");
}

TEST_P(BadExecution, NullAddress) {
  const Error e =
      expect_error([&] { context_->bind_input("x", nullptr, 24); }, ErrorCode::invalid_argument, "x");
  EXPECT_EQ(e.parts().observed, "null");
  expect_error([&] { context_->bind_output("y", nullptr, 24); }, ErrorCode::invalid_argument, "y");
  context_->bind_output("y", nullptr, 0);
  const Error missing = expect_error([&] { enqueue(); }, ErrorCode::invalid_argument, "tested");
  EXPECT_EQ(missing.parts().observed, "none for 'y'");
}

TEST_P(BadExecution, MisalignedAddress) {
  std::array<std::byte, 32> memory{};
  std::byte* const odd = memory.data() + 1;
  expect_error([&] { context_->bind_input("x", odd, 24); }, ErrorCode::invalid_argument, "x");
  expect_error([&] { context_->bind_output("y", odd, 24); }, ErrorCode::invalid_argument, "y");
  expect_error([&] { context_->bind_input("shape", odd + 3, 16); }, ErrorCode::invalid_argument, "shape");
}

TEST_P(BadExecution, BufferOfTheWrongSize) {
  context_->bind_input("x", x_.data(), 20);
  expect_error([&] { enqueue(); }, ErrorCode::invalid_argument, "x");
  context_->bind_output("y", y_.data(), 20);
  const Error e = expect_error([&] { enqueue(); }, ErrorCode::invalid_argument, "y");
  EXPECT_EQ(e.parts().expected, "at least 24 bytes for shape [2, 3]");
  EXPECT_EQ(e.parts().observed, "20 bytes bound");
  expect_error([&] { context_->bind_input("shape", shape_.data(), 8); }, ErrorCode::invalid_argument,
               "shape");
}

// Only running can tell, so the error comes from the stream.
TEST_P(BadExecution, BufferTooSmallForADataDependentShape) {
  context_->bind_output("w", w_.data(), 20);
  const Error e = expect_error([&] { enqueue(); }, ErrorCode::invalid_argument, "w");
  EXPECT_EQ(e.parts().object, "context 'tested': output");
  EXPECT_EQ(e.parts().observed, "20 bytes bound");
}

TEST_P(BadExecution, MissingShapes) {
  context_->set_profile(0);
  const Error e = expect_error([&] { enqueue(); }, ErrorCode::invalid_argument, "tested");
  EXPECT_EQ(e.parts().observed, "none for 'x'");
  context_->set_profile(0);
  expect_error([&] { context_->required_bytes("y"); }, ErrorCode::invalid_argument, "y");
}

// What is enqueued behind an error is not run: it may need what failed. The one who waits is told of both.
TEST_P(BadExecution, EnqueueWhilePoisoned) {
  shape_ = {4, 4};
  y_.assign(6, -1);
  context_->enqueue(stream_);
  Event failed;
  stream_.record(failed);
  const Error first = thrown_by([&] { failed.synchronize(); });
  shape_ = {3, 2};
  context_->enqueue(stream_);
  context_->enqueue(stream_);
  const Error e = thrown_by([&] { stream_.synchronize(); });
  EXPECT_EQ(e.code(), first.code());
  EXPECT_EQ(e.parts().object, first.parts().object);
  EXPECT_EQ(e.parts().object.find("context 'tested': "), 0u) << e.what();
  EXPECT_NE(e.parts().remedy.find("Not run, as queued behind it: 2."), std::string::npos) << e.what();
  EXPECT_EQ(context_->stats().skipped, 2u);
  EXPECT_EQ(recorder_->count(), 1u);
  expect_usable();
}

// The error of asynchronous work names the step at fault.
TEST_P(BadExecution, AFailingStepIsNamedToTheOneWhoWaits) {
  shape_ = {4, 4};
  context_->enqueue(stream_);
  recorder_->clear();
  const Error e = thrown_by([&] { stream_.synchronize(); });
  EXPECT_NE(e.parts().object.find("context 'tested': "), std::string::npos) << e.what();
  EXPECT_NE(std::string(e.what()).find("reshape"), std::string::npos) << e.what();
  expect_usable();
}

TEST_P(BadExecution, OverlappingMemory) {
  context_->bind_output("y", x_.data() + 1, 20);
  context_->set_shape("x", {1, 3});
  context_->bind_input("x", x_.data(), 12);
  const Error e = expect_error([&] { enqueue(); }, ErrorCode::invalid_argument, "y");
  EXPECT_NE(e.parts().expected.find("input 'x'"), std::string::npos);
}

}  // namespace
}  // namespace ingot
