#include "ir/parse.h"

#include <gtest/gtest.h>

#include "ingot/error.h"
#include "ir/print.h"

namespace ingot {
namespace {

TEST(GraphTextTest, PrintsWhatItParses) {
  const std::string text =
      "graph \"a \\\"name\\\"\" {\n"
      "  metadata \"licence\" = \"MIT\\n\"\n"
      "  symbol batch in [1, 64]\n"
      "  %0 = input \"x\" : f32[batch, 784]\n"
      "  %1 = constant i64[2] [-1, 784]\n"
      "  %2 = reshape(%0, %1) {zero_is_zero = true} : f32[batch, 784] @\"/head/Reshape\"\n"
      "  %3 = constant f32[784, 2] 0x" +
      std::string(784 * 2 * 8, '4') +
      "\n"
      "  %4 = matmul(%2, %3) : f32[batch, 2]\n"
      "  %5 = constant f64[3] [0.1, -2, 1e+300]\n"
      "  %6 = constant string[2] [\"a\", \"b\\x01\"]\n"
      "  %7 = constant i4[3] [-8, 7, 0]\n"
      "  %8 = constant bool[2] [1, 0]\n"
      "  output \"y\" = %4\n"
      "}\n";
  EXPECT_EQ(print(parse_graph(text)), text);
}

TEST(GraphTextTest, KeepsTheBitsOfNonFiniteConstants) {
  const std::string text =
      "graph \"g\" {\n  %0 = constant f32[2] 0x0000c07f000080ff\n  output \"y\" = %0\n}\n";
  EXPECT_EQ(print(parse_graph(text)), text);
}

std::string error_of(std::string_view text) {
  try {
    (void)parse_graph(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(GraphTextTest, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(error_of("graph \"g\" {\n  %0 = nosuch()\n}"),
            "graph text, line 2, column 14: expected an op, found nosuch");
  EXPECT_NE(error_of("graph \"g\" { output \"y\" = %1 }").find("a value defined above"), std::string::npos);
  EXPECT_NE(error_of("graph \"g\" { %0 = constant i64[2] [1] }").find("2 elements"), std::string::npos);
  EXPECT_NE(error_of("graph \"g").find("expected"), std::string::npos);
}

TEST(GraphTextTest, RefusesATypeThatContradictsTheRule) {
  EXPECT_NE(error_of("graph \"g\" { %0 = input \"x\" : f32[2] %1 = exp(%0) : f32[3] }").find("f32[2]"),
            std::string::npos);
}

TEST(TypeTextTest, ParsesNestedTypes) {
  for (const char* text :
       {"f32[*]", "i64[]", "sequence<f32[2, n]>", "optional<sequence<string[*]>>", "f4e2m1[2*n + 1]"})
    EXPECT_EQ(to_string(parse_type(text)), text);
}

}  // namespace
}  // namespace ingot
