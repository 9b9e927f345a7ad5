#pragma once

#include <gtest/gtest.h>

#include "ingot/error.h"

namespace ingot {

// The Error that `call` throws; the test fails when it throws none. Other exceptions pass through.
template <class Call>
Error thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "no ingot::Error was thrown";
  return Error({.code = ErrorCode::internal, .observed = "nothing thrown"});
}

}  // namespace ingot
