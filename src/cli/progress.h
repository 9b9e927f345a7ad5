#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "ingot/builder.h"

namespace ingot::cli {

// Shows a build on standard error: a bar that moves on a terminal, else a line as each phase ends. Stops the
// build when Ctrl-C was noted (InterruptNote).
class ProgressDisplay : public ProgressMonitor {
 public:
  enum class Style { none, lines, bar };
  static Style style_for_stderr(bool quiet);

  explicit ProgressDisplay(Style style) : style_(style) {}
  ~ProgressDisplay() override;

  void phase_start(std::string_view phase, std::string_view parent, int64_t steps) override;
  bool step(std::string_view phase, int64_t done) override;
  void phase_finish(std::string_view phase) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Phase {
    std::string name;
    int64_t steps;
    Stopwatch watch;
  };

  void draw(const Phase& phase, int64_t done);
  void clear_bar();

  Style style_;
  std::vector<Phase> open_;
  Clock::time_point last_drawn_{};
  bool bar_shown_ = false;
};

}  // namespace ingot::cli
