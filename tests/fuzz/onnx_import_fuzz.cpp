// Any bytes must either become a graph or be refused with an Error other than `internal`, which would be our
// own fault.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "ingot/error.h"
#include "ingot/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    ingot::import_onnx(std::as_bytes(std::span(data, size)), nullptr, "fuzz");
  } catch (const ingot::Error& error) {
    if (error.code() != ingot::ErrorCode::internal) return 0;
    std::fputs(error.what(), stderr);
    std::abort();
  }
  return 0;
}
