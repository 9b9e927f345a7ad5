#pragma once

#include <new>

#include "ingot/logger.h"

namespace ingot {

// Runs `call`, and reports the Error it throws. A refused allocation becomes an Error.
template <class Call>
decltype(auto) reported(const Diagnostics& diagnostics, Call&& call) {
  try {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      throw Error({.code = ErrorCode::out_of_memory,
                   .object = "library",
                   .expected = "memory",
                   .observed = "a refused allocation"});
    }
  } catch (const Error& e) {
    diagnostics.report(e);
    throw;
  }
}

}  // namespace ingot
