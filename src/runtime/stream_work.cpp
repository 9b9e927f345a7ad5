#include "runtime/stream_work.h"

#include <cstring>

#include "runtime/engine_state.h"

namespace ingot {
namespace {

struct PerformWork {
  void operator()(const InferenceWork& work) const {
    try {
      work.context->perform_bound(*work.bindings);
    } catch (const Error& e) {
      if (work.inputs_consumed) work.inputs_consumed->reach(e);
      throw;
    }
    if (work.inputs_consumed) work.inputs_consumed->reach(std::nullopt);
  }
  void operator()(const CopyWork& work) const {
    if (work.bytes > 0) std::memmove(work.to, work.from, work.bytes);
  }
  void operator()(const MarkWork& work) const { work.point->reach(std::nullopt); }
  void operator()(const AwaitWork& work) const {
    work.point->refuse_own_thread();
    work.point->wait();
    if (std::optional<Error> error = work.point->error()) throw Error(*error);
  }
  void operator()(const CallWork& work) const {
    try {
      work.function();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      fail_call(e.what());
    } catch (...) {
      fail_call("an exception of an unknown type");
    }
  }

  [[noreturn]] static void fail_call(std::string what) {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "call on a stream",
                 .expected = "a function that throws nothing or ingot::Error",
                 .observed = std::move(what),
                 .remedy = "Catch it inside the function."});
  }
};

struct SkipWork {
  const Error& failure;

  void operator()(const InferenceWork& work) const {
    work.context->skip();
    if (work.inputs_consumed) work.inputs_consumed->reach(failure);
  }
  void operator()(const MarkWork& work) const { work.point->reach(failure); }
  // What waits behind it must not seem to have ended before what it waits for.
  void operator()(const AwaitWork& work) const { work.point->wait(); }
  void operator()(const CopyWork&) const {}
  void operator()(const CallWork&) const {}
};

}  // namespace

void perform(const Work& work) { std::visit(PerformWork{}, work); }

void skip(const Work& work, const Error& failure) { std::visit(SkipWork{failure}, work); }

void report(const Work& work, const Error& error, const Diagnostics& of_stream) {
  const auto* inference = std::get_if<InferenceWork>(&work);
  (inference ? inference->context->diagnostics : of_stream).report(error);
}

bool has_effect(const Work& work) {
  return !std::holds_alternative<MarkWork>(work) && !std::holds_alternative<AwaitWork>(work);
}

}  // namespace ingot
