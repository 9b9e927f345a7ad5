#include "ingot/error.h"

#include <utility>

namespace ingot {
namespace {

std::string sentence(const ErrorParts& p) {
  std::string s = p.object;
  if (!p.name.empty()) s += (s.empty() ? "'" : " '") + p.name + "'";
  if (!s.empty()) s += ": ";
  if (!p.expected.empty()) s += "expected " + p.expected;
  if (!p.observed.empty()) s += (p.expected.empty() ? "" : ", found ") + p.observed;
  if (!p.remedy.empty()) s += ". " + p.remedy;
  return s;
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::incompatible: return "incompatible";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device: return "device";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorParts parts) : parts_(std::move(parts)), message_(sentence(parts_)) {}

}  // namespace ingot
