#include "ir/select_outputs.h"

#include <gtest/gtest.h>

#include <array>

#include "ir/parse.h"
#include "ir/print.h"

namespace ingot {
namespace {

TEST(SelectOutputs, KeepsWhatTheyNeedAndAllInputs) {
  const Graph graph = parse_graph(R"(graph "sample" {
    symbol batch in [1, 64]
    %0 = input "x" : f32[batch, 4]
    %1 = input "y" : f32[rows, 4]
    %2 = relu(%0) : f32[batch, 4]
    %3 = relu(%1) : f32[rows, 4]
    %4 = add(%2, %2) : f32[batch, 4]
    output "a" = %3
    output "b" = %4
    output "c" = %2
  })");
  constexpr std::array<size_t, 2> kWanted = {2, 1};
  const Graph selected = select_outputs(graph, kWanted, {{"author", "nobody"}});
  EXPECT_EQ(print(selected), print(parse_graph(R"(graph "sample" {
    metadata "author" = "nobody"
    symbol batch in [1, 64]
    %0 = input "x" : f32[batch, 4]
    %1 = input "y" : f32[rows, 4]
    %2 = relu(%0) : f32[batch, 4]
    %3 = add(%2, %2) : f32[batch, 4]
    output "c" = %2
    output "b" = %3
  })")));
}

}  // namespace
}  // namespace ingot
