#pragma once

#include <functional>
#include <variant>

#include "runtime/context_state.h"
#include "runtime/event_state.h"

namespace ingot {

// What a stream may be asked to do.
struct InferenceWork {
  std::shared_ptr<Context::State> context;
  std::shared_ptr<const Bindings> bindings;
  std::shared_ptr<EventPoint> inputs_consumed;  // null: nobody wants to know
};

struct CopyWork {
  void* to;
  const void* from;
  size_t bytes;
};

struct MarkWork {
  std::shared_ptr<EventPoint> point;
};

struct AwaitWork {
  std::shared_ptr<EventPoint> point;
};

struct CallWork {
  std::function<void()> function;
};

using Work = std::variant<InferenceWork, CopyWork, MarkWork, AwaitWork, CallWork>;

// Does it. Throws Error and nothing else.
void perform(const Work& work);
// Called instead behind work that failed.
void skip(const Work& work, const Error& failure);
// Tells the recorder or the log of the context, where it has one, else of the stream.
void report(const Work& work, const Error& error, const Diagnostics& of_stream);
// Whether skipping it leaves something undone.
bool has_effect(const Work& work);

}  // namespace ingot
