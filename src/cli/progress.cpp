#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "cli/interrupt.h"
#include "cli/output.h"

namespace ingot::cli {
namespace {

constexpr int kBarWidth = 32;
constexpr std::chrono::milliseconds kRedraw{50};

}  // namespace

ProgressDisplay::Style ProgressDisplay::style_for_stderr(bool quiet) {
  if (quiet) return Style::none;
  return isatty(STDERR_FILENO) ? Style::bar : Style::lines;
}

ProgressDisplay::~ProgressDisplay() { clear_bar(); }

void ProgressDisplay::phase_start(std::string_view phase, std::string_view, int64_t steps) {
  open_.push_back({std::string(phase), steps, {}});
  if (style_ == Style::bar) draw(open_.back(), 0);
}

bool ProgressDisplay::step(std::string_view phase, int64_t done) {
  if (style_ == Style::bar && Clock::now() - last_drawn_ >= kRedraw)
    for (const Phase& p : open_)
      if (p.name == phase) draw(p, done);
  return !InterruptNote::happened();
}

void ProgressDisplay::phase_finish(std::string_view phase) {
  if (open_.empty()) return;
  const Phase done = std::move(open_.back());
  open_.pop_back();
  if (style_ == Style::lines)
    fmt::print(stderr, "{:{}}{}: {}\n", "", 2 * open_.size(), phase, format_seconds(done.watch.seconds()));
  if (open_.empty()) clear_bar();
}

void ProgressDisplay::draw(const Phase& phase, int64_t done) {
  const double part =
      phase.steps > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(phase.steps)) : 0;
  const auto filled = static_cast<int>(part * kBarWidth);
  fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {:3.0f} % {:<24}", "", filled, "", kBarWidth - filled, part * 100,
             phase.name);
  fflush(stderr);
  bar_shown_ = true;
  last_drawn_ = Clock::now();
}

void ProgressDisplay::clear_bar() {
  if (!bar_shown_) return;
  fmt::print(stderr, "\r\033[K");
  fflush(stderr);
  bar_shown_ = false;
}

}  // namespace ingot::cli
