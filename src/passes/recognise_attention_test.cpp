#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

const std::string kHeads =
    "%0 = input \"q\" : f32[b, 2, t, 4]\n%1 = input \"k\" : f32[b, 2, s, 4]\n%2 = input \"v\" : f32[b, 2, s, "
    "3]\n"
    "%3 = transpose(%1) {permutation = [0, 1, 3, 2]}\n%4 = constant f32[] [0.5]\n%5 = constant f32[] "
    "[0.70710678]\n";

TEST(RecogniseAttentionTest, ScaleAtTheScores) {
  std::string text = expect_recognised(
      kHeads +
          "%6 = matmul(%0, %3)\n%7 = mul(%6, %4)\n%8 = softmax(%7)\n%9 = matmul(%8, %2)\noutput \"y\" = %9\n",
      "recognise_attention", "attention");
  EXPECT_EQ(text.find("transpose"), std::string::npos) << text;
}

TEST(RecogniseAttentionTest, ScaleAtQueryAndKey) {
  expect_recognised(kHeads +
                        "%10 = mul(%0, %5)\n%11 = mul(%3, %5)\n%6 = matmul(%10, %11)\n%8 = softmax(%6)\n"
                        "%9 = matmul(%8, %2)\noutput \"y\" = %9\n",
                    "recognise_attention", "attention");
}

// Keys transposed as matrices of a flattened batch, and a guard against rows that see nothing.
TEST(RecogniseAttentionTest, AsPyTorchExportsScaledDotProductAttention) {
  std::string text = expect_recognised(
      kHeads +
          "%10 = input \"mask\" : bool[b, 1, t, s]\n%11 = constant f32[] [0]\n%12 = constant f32[] "
          "[-3.4e38]\n"
          "%13 = select(%10, %11, %12)\n%14 = shape_of(%1) {start = 2, end = 3}\n%15 = constant i64[1] [-1]\n"
          "%16 = constant i64[1] [4]\n%17 = concat(%15, %14, %16)\n%18 = reshape(%1, %17)\n"
          "%19 = transpose(%18) {permutation = [0, 2, 1]}\n%20 = shape_of(%1) {end = 2}\n%21 = concat(%20, "
          "%16, %14)\n"
          "%22 = reshape(%19, %21)\n%23 = mul(%0, %5)\n%24 = mul(%22, %5)\n%25 = matmul(%23, %24)\n%26 = "
          "add(%25, %13)\n"
          "%27 = softmax(%26)\n%28 = is_nan(%27)\n%29 = select(%28, %11, %27)\n%30 = matmul(%29, %2)\n"
          "output \"y\" = %30\n",
      "recognise_attention", "attention");
  EXPECT_EQ(text.find("transpose"), std::string::npos) << text;
  EXPECT_EQ(text.find("reshape"), std::string::npos) << text;
}

TEST(RecogniseAttentionTest, HeadsInTheBatch) {
  expect_recognised(
      "%0 = input \"q\" : f32[b, t, 4]\n%1 = input \"k\" : f32[b, 4, s]\n%2 = input \"v\" : f32[b, s, 3]\n"
      "%3 = input \"mask\" : f32[b, t, s]\n%4 = constant f32[] [2]\n%5 = div(%0, %4)\n%6 = matmul(%5, %1)\n"
      "%7 = add(%3, %6)\n%8 = softmax(%7) {axis = 2}\n%9 = matmul(%8, %2)\noutput \"y\" = %9\n",
      "recognise_attention", "attention");
}

TEST(RecogniseAttentionTest, AMaskOfOneColumnStays) {
  expect_not_recognised(kHeads +
                            "%10 = input \"mask\" : f32[b, 1, t, 1]\n%6 = matmul(%0, %3)\n%7 = add(%6, %10)\n"
                            "%8 = softmax(%7)\n%9 = matmul(%8, %2)\noutput \"y\" = %9\n",
                        "attention");
}

TEST(RecogniseAttentionTest, WeightsThatAreReadElsewhereStay) {
  expect_not_recognised(kHeads +
                            "%6 = matmul(%0, %3)\n%8 = softmax(%6)\n%9 = matmul(%8, %2)\noutput \"y\" = %9\n"
                            "output \"weights\" = %8\n",
                        "attention");
}

}  // namespace
}  // namespace ingot
