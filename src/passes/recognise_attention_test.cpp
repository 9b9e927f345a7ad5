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

TEST(RecogniseAttentionTest, CappedScores) {
  const std::string text = expect_recognised(
      kHeads +
          "%10 = input \"mask\" : f32[t, s]\n%11 = constant f32[] [3]\n%6 = matmul(%0, %3)\n%7 = mul(%6, "
          "%4)\n"
          "%12 = div(%7, %11)\n%13 = tanh(%12)\n%14 = mul(%13, %11)\n%15 = add(%14, %10)\n%8 = softmax(%15)\n"
          "%9 = matmul(%8, %2)\noutput \"y\" = %9\n",
      "recognise_attention", "attention");
  EXPECT_EQ(text.find("tanh"), std::string::npos) << text;
}

TEST(RecogniseAttentionTest, AMaskOfTruths) {
  expect_recognised(
      kHeads +
          "%10 = input \"mask\" : bool[t, s]\n%11 = constant f32[] [-inf]\n%6 = matmul(%0, %3)\n"
          "%7 = select(%10, %6, %11)\n%8 = softmax(%7)\n%12 = is_nan(%8)\n%13 = constant f32[] [0]\n"
          "%14 = select(%12, %13, %8)\n%9 = matmul(%14, %2)\noutput \"y\" = %9\n",
      "recognise_attention", "attention");
}

// The size of the mask is not known to be that of the keys.
TEST(RecogniseAttentionTest, AMaskOfASizeOfItsOwn) {
  const std::string text = expect_recognised(
      "%0 = input \"q\" : f32[1, 2, a, 4]\n%1 = input \"k\" : f32[1, 2, b, 4]\n%2 = input \"v\" : f32[1, 2, "
      "b, 3]\n"
      "%3 = transpose(%1) {permutation = [0, 1, 3, 2]}\n%4 = input \"mask\" : f32[1, 1, a, 1]\n"
      "%5 = input \"like\" : f32[1, b]\n%6 = shape_of(%5)\n%7 = broadcast_to(%4, %6)\n%8 = matmul(%0, %3)\n"
      "%9 = add(%8, %7)\n%10 = softmax(%9)\n%11 = matmul(%10, %2)\noutput \"y\" = %11\n",
      "recognise_attention", "attention");
}

const std::string kCache =
    "%0 = input \"q\" : f32[1, 6, t, 4]\n%1 = input \"k\" : f32[1, 2, t, 4]\n%2 = input \"v\" : f32[1, 2, t, "
    "4]\n"
    "%3 = input \"past k\" : f32[1, 2, p, 4]\n%4 = input \"past v\" : f32[1, 2, p, 4]\n"
    "%5 = concat(%3, %1) {axis = 2}\n%6 = concat(%4, %2) {axis = 2}\n%7 = constant i64[1] [2]\n"
    "%8 = unsqueeze(%5, %7)\n%9 = unsqueeze(%6, %7)\n%10 = constant i64[5] [1, 2, 3, 1, 4]\n"
    "%11 = broadcast_to(%8, %10)\n%12 = broadcast_to(%9, %10)\n%13 = constant i64[4] [1, 6, -1, 4]\n"
    "%14 = reshape(%11, %13)\n%15 = reshape(%12, %13)\n%16 = transpose(%14) {permutation = [0, 1, 3, 2]}\n"
    "%17 = matmul(%0, %16)\n%18 = constant f32[1] [0.5]\n%19 = mul(%17, %18)\n";

// As decoders are exported: heads are repeated, the mask has a size of its own.
TEST(RecogniseAttentionTest, RepeatedHeadsAndACache) {
  const std::string text =
      expect_recognised(kCache + "%20 = softmax(%19)\n%21 = matmul(%20, %15)\noutput \"y\" = %21\n",
                        "recognise_attention", "attention");
  for (const char* gone : {"broadcast_to", "concat", "transpose", "reshape"})
    EXPECT_EQ(text.find(gone), std::string::npos) << text;
}

TEST(RecogniseAttentionTest, ACacheThatIsAnOutputIsJoinedOnce) {
  const std::string text = expect_recognised(kCache +
                                                 "%20 = softmax(%19)\n%21 = matmul(%20, %15)\noutput \"y\" = "
                                                 "%21\noutput \"keys\" = %5\noutput \"values\" = "
                                                 "%6\n",
                                             "recognise_attention", "attention");
  EXPECT_EQ(text.find("broadcast_to"), std::string::npos) << text;
  EXPECT_NE(text.find("concat"), std::string::npos) << text;
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
