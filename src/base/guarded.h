#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "ingot/error.h"

namespace ingot {

// Runs a call at the edge of the library, so that nothing but Error leaves it: a refused allocation becomes
// out_of_memory, and any other exception, which would be a fault of ours, internal. `object` and `name` say
// what was worked on.
template <class F>
decltype(auto) guarded(std::string_view object, std::string_view name, F f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error({.code = ErrorCode::out_of_memory,
                 .object = std::string(object),
                 .name = std::string(name),
                 .expected = "enough memory",
                 .observed = "a refused allocation"});
  } catch (const std::exception& e) {
    throw Error({.code = ErrorCode::internal,
                 .object = std::string(object),
                 .name = std::string(name),
                 .observed = e.what(),
                 .remedy = "This is a fault of Ingot; please report it with the file."});
  }
}

}  // namespace ingot
