#pragma once

namespace ingot::cli {

// While it lives, the first SIGINT (Ctrl-C) is noted instead of ending the process; a second one ends it. One
// at a time.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  static bool happened();
};

}  // namespace ingot::cli
