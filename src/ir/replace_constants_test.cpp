#include "ir/replace_constants.h"

#include <gtest/gtest.h>

#include "ingot/error.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

constexpr std::string_view kText = R"(graph "g" {
  metadata "key" = "value"
  symbol n in [1, 8]
  %0 = constant f32[2] [1, 2] @"w"
  %1 = input "x" : f32[n, 2]
  %2 = input "c" : bool[]
  %3 = add(%1, %0) : f32[n, 2] @"sum"
  %4 = if(%2, %3) (graph "then" {
    %0 = input "v" : f32[n, 2]
    %1 = constant f32[2] [5, 6]
    %2 = mul(%0, %1) : f32[n, 2]
    output "r" = %2
  }, graph "else" {
    %0 = input "v" : f32[n, 2]
    output "r" = %0
  }) : f32[n, 2]
  output "y" = %4
})";

std::string replaced(std::string text, std::string_view old, std::string_view with) {
  return text.replace(text.find(old), old.size(), with);
}

TEST(ReplaceConstants, ChangesWhatTheSourceGivesAndNothingElse) {
  const Graph graph = parse_graph(kText);
  const Graph same = replace_constants(graph, [](int32_t, const Tensor&) { return std::nullopt; });
  EXPECT_EQ(print(same), print(graph));
  const Graph changed = replace_constants(graph, [](int32_t node, const Tensor&) {
    return node == 0 ? std::optional(Tensor::of<float>({2}, {3, 4})) : std::nullopt;
  });
  EXPECT_EQ(print(changed), replaced(print(graph), "[1, 2]", "[3, 4]"));
}

TEST(ReplaceConstants, ReachesBodies) {
  const Graph graph = parse_graph(kText);
  const Graph changed = replace_constants(graph, [](int32_t node, const Tensor& old) {
    return node == -1 && old.data<float>()[0] == 5 ? std::optional(Tensor::of<float>({2}, {7, 8}))
                                                   : std::nullopt;
  });
  EXPECT_EQ(print(changed), replaced(print(graph), "[5, 6]", "[7, 8]"));
}

TEST(ReplaceConstants, RefusesATypeThatDoesNotFit) {
  const Graph graph = parse_graph(kText);
  const Error e = thrown_by([&] {
    replace_constants(graph, [](int32_t, const Tensor&) { return Tensor::of<float>({3}, {1, 2, 3}); });
  });
  EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ingot
