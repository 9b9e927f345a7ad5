#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

// What went wrong, by what the caller can do about it.
enum class ErrorCode {
  invalid_argument,  // a value this call can never accept; not for bad files (corrupt)
  not_found,         // a named file, tensor, device or entry does not exist; not for a misspelt option value
  corrupt,           // bytes that break their format; not for valid bytes of another version (incompatible)
  incompatible,      // valid, but made for another version, device or shape than the one at hand
  unsupported,       // valid, and understood, but this build has no implementation of it
  out_of_memory,     // an allocation was refused or a stated limit would be passed
  device,            // the operating system or the device failed (disk full, permission, lost device)
  cancelled,         // the caller asked to stop
  internal,          // our own fault: a broken invariant; please report it
};

INGOT_API std::string_view to_string(ErrorCode code);

// The parts of an error. Empty parts are left out of the sentence.
struct ErrorParts {
  ErrorCode code = ErrorCode::internal;
  std::string object = {};    // what kind of thing: "engine file", "ONNX node", "input tensor"
  std::string name = {};      // which one: a path, a tensor name, a node name
  std::string expected = {};  // what would have been accepted, with the limit
  std::string observed = {};  // what was there, with the value
  std::string remedy = {};    // what to do, as a sentence; empty where nothing helps
};

// The one exception type of the library. `what()` is one readable sentence made from the parts:
//   engine file 'a.ingot': expected at least 64 bytes, found 12. Build it again with 'ingot compile'.
class INGOT_API Error : public std::exception {
 public:
  explicit Error(ErrorParts parts);

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorCode code() const noexcept { return parts_.code; }
  const ErrorParts& parts() const noexcept { return parts_; }

 private:
  ErrorParts parts_;
  std::string message_;
};

}  // namespace ingot
