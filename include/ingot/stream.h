#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "ingot/export.h"
#include "ingot/logger.h"

// Work in order, off the caller's thread.
//
//   Stream stream;
//   void* x = stream.allocate(bytes);
//   stream.copy(x, host_x, bytes);
//   context.bind_input("x", x, bytes);
//   context.enqueue(stream);
//   stream.free(x);
//   stream.synchronize();
//
// Everything given to a stream runs in the order given. Between two streams, or a stream and the host, only
// events and synchronize() order anything.
namespace ingot {

// A point in the order of a stream: what was given to the stream before Stream::record() has ended. A handle:
// copies are the same event. Thread-safe.
class INGOT_API Event {
 public:
  Event();  // of no stream yet, which is a point that has been reached

  // Whether the point of the last record() has been reached, whether its work went well or not.
  bool is_complete() const;
  // Waits for the point of the last record(), and throws the error by which work before it failed or was not
  // run; every call does, and the stream still has the error too. Throws invalid_argument where it would wait
  // for itself: in a call that the stream itself made.
  void synchronize() const;

 private:
  friend class Context;
  friend class Stream;
  struct State;
  std::shared_ptr<State> state_;
};

struct StreamOptions {
  Logger* logger = nullptr;  // not owned; must outlive the stream
  // Of errors of the stream and of its copies and calls; those of inferences go to the recorder of their
  // context.
  std::shared_ptr<ErrorRecorder> recorder = nullptr;
  std::vector<int> cpus = {};  // that its thread runs on; none: those of the thread that makes it
};

// A queue of work, done in order on a thread of its own, which sleeps when there is nothing to do. Or an
// inline stream, which does everything in the call that asks for it: the null stream of other libraries.
// Thread-safe.
//
// After an error nothing more is run until synchronize() has thrown it, since what follows may need what
// failed. Events are still reached, with that error, and waits still waited for.
class INGOT_API Stream {
 public:
  // Throws device where the system refuses a thread; invalid_argument for CPUs that the process may not use.
  explicit Stream(const StreamOptions& options = {});
  // Has no thread: enqueue(), copy() and call() return when the work is done and throw its error,
  // synchronize() finds nothing to wait for. Orders the work of each calling thread, not that of two.
  static Stream inline_stream(const StreamOptions& options = {});
  ~Stream();  // close(), errors dropped: those of inferences are in the recorder or the log
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Waits for everything given before the call. The first error since the last call is thrown, with the name
  // of its context; what was queued behind it was not run, as it may have needed its results.
  // Neither this nor close() may be called by what the stream itself called.
  void synchronize();
  bool is_idle() const;  // everything given so far has ended, well or not
  // Finishes what is queued and ends the thread; giving it more then throws invalid_argument. Errors stay for
  // synchronize().
  void close();

  // The event is reached when all that was given to this stream so far has ended. Recording again moves it;
  // who waits already waits for the former point.
  void record(Event& event);
  // What is given to this stream from now on begins after the point that the event has now. If work before
  // that point failed, this stream fails with the same error.
  void wait(const Event& event);

  // Memory aligned to 256 bytes, for work of this stream in order: the bytes may have been those of an
  // earlier allocation, whose work is not to be disturbed, so the host may touch them only after a
  // synchronize() that follows. Null for 0 bytes. Throws out_of_memory.
  void* allocate(size_t bytes);
  // Takes it back behind the work given so far: inferences and copies enqueued before may go on using it,
  // what is allocated afterwards may get it. Null is nothing. Throws invalid_argument for what this stream
  // has not allocated or has taken back already.
  void free(void* memory);
  size_t reserved_bytes() const;  // held for allocate(), in use or not
  // Returns to the system what has been freed and is behind all work that uses it. close() does not: memory
  // lives as long as the stream.
  void trim();

  // Copies in order. Both ranges must live, and `from` must not change, until then; they may overlap. Throws
  // invalid_argument for null with more than 0 bytes.
  void copy(void* to, const void* from, size_t bytes);
  // Calls a function of the application in order, on the thread of the stream. It may enqueue more but not
  // wait for this stream. What it throws is an error of the stream.
  void call(std::function<void()> function);

 private:
  friend class Context;
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ingot
