#include "base/checked.h"

#include "ingot/error.h"

namespace ingot {

void throw_overflow(std::string_view object, const std::string& expression) {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = std::string(object),
               .expected = "a result in the range of its integer type",
               .observed = expression,
               .remedy = "Use smaller sizes."});
}

std::optional<int64_t> try_product(std::span<const int64_t> dimensions) {
  bool empty = false;
  for (int64_t d : dimensions) {
    if (d < 0) return std::nullopt;
    empty |= d == 0;
  }
  if (empty) return 0;
  std::optional<int64_t> product = 1;
  for (size_t i = 0; product && i < dimensions.size(); ++i) product = try_mul(*product, dimensions[i]);
  return product;
}

int64_t checked_product(std::span<const int64_t> dimensions, std::string_view object) {
  if (auto r = try_product(dimensions)) return *r;
  throw_overflow(object, fmt::format("{}", fmt::join(dimensions, " * ")));
}

}  // namespace ingot
