#pragma once

#include <mutex>
#include <set>

#include "ingot/graph.h"
#include "ingot/profile.h"
#include "ingot/refit_mode.h"
#include "ingot/runtime.h"
#include "support/quiet_logger.h"

// Engines for the tests of this folder.
namespace ingot {

// What a test wants of an engine file.
struct FileOptions {
  std::vector<Profile> profiles = {};
  std::vector<std::string> targets = {"cpu", "reference"};
  bool stripped = false;
  RefitMode refit = RefitMode::none;
  std::set<std::string, std::less<>> refit_weights = {};
};
std::vector<std::byte> engine_bytes(Graph graph, FileOptions options = {});
std::shared_ptr<const Engine> open_graph(Graph graph, std::vector<Profile> profiles = {},
                                         RuntimeConfig config = {}, Logger& logger = quiet_logger());

// y = x * {10, 20, 30} + z, over f32[batch, 3], batch from 1 to 8.
Graph affine_graph();
// y = x + {0, 1, 2 ... 999}: its weights are large enough to be used in place in the file.
Graph weights_graph();
// y = x in another shape: f32[n] and i64[2] give f32 of two sizes that only running can tell.
Graph reshape_graph();

// Keeps what it is told.
class KeepingLogger : public Logger {
 public:
  explicit KeepingLogger(LogLevel level) : Logger(level) {}
  // Whether a message of this level holds the text.
  bool has(LogLevel level, std::string_view text) const;

 protected:
  void log(LogLevel level, std::string_view message) noexcept override;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> messages_;
};

}  // namespace ingot
