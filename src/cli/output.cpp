#include "cli/output.h"

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/os_error.h"

namespace ingot::cli {
namespace {

// The parts of an error that have a line of their own.
std::string first_sentence(const Error& error) {
  ErrorParts parts = error.parts();
  parts.remedy.clear();
  const std::string text = Error(std::move(parts)).what();
  return text.ends_with('.') ? text : text + ".";
}

}  // namespace

void print_text(std::string_view text) {
  if (fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw_os_error(errno, "standard output", "", "write");
}

void print_json(const nlohmann::ordered_json& json) {
  print_text(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void flush_output() {
  if (fflush(stdout) != 0) throw_os_error(errno, "standard output", "", "write");
}

void print_error(std::string_view command, const Error& error) {
  fmt::print(stderr, "ingot{}{}: {}\n", command.empty() ? "" : " ", command, first_sentence(error));
  if (!error.parts().remedy.empty()) fmt::print(stderr, "  {}\n", error.parts().remedy);
  fmt::print(stderr, "  error code: {}\n", to_string(error.code()));
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string format_bytes(uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1000000) return fmt::format("{:.1f} kB", number / 1e3);
  if (bytes < 1000000000) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.2f} GB", number / 1e9);
}

}  // namespace ingot::cli
