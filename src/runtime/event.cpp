#include "runtime/event_state.h"

namespace ingot {

void EventPoint::reach(std::optional<Error> error) {
  std::lock_guard lock(mutex_);
  error_ = std::move(error);
  is_reached_ = true;
  reached_.notify_all();
}

bool EventPoint::is_reached() const {
  std::lock_guard lock(mutex_);
  return is_reached_;
}

void EventPoint::wait() const {
  std::unique_lock lock(mutex_);
  reached_.wait(lock, [this] { return is_reached_; });
}

std::optional<Error> EventPoint::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

void EventPoint::refuse_own_thread() const {
  if (std::this_thread::get_id() == worker_ && !is_reached())
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = "event",
                 .expected = "synchronize() on another thread",
                 .observed = "a call from work on the stream of the event, which would wait for itself"});
}

std::shared_ptr<EventPoint> Event::State::last() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void Event::State::set(std::shared_ptr<EventPoint> point) {
  std::lock_guard lock(mutex_);
  last_ = std::move(point);
}

Event::Event() : state_(std::make_shared<State>()) {}

bool Event::is_complete() const {
  const std::shared_ptr<EventPoint> point = state_->last();
  return !point || point->is_reached();
}

void Event::synchronize() const {
  const std::shared_ptr<EventPoint> point = state_->last();
  if (!point) return;
  point->refuse_own_thread();
  point->wait();
  if (std::optional<Error> error = point->error()) throw Error(*error);
}

}  // namespace ingot
