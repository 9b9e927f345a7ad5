#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

// As Hugging Face models write it: angles for each position, twice, then cos and sin for all heads.
const std::string kAngles =
    "%0 = input \"x\" : f32[b, 3, t, 8]\n%1 = input \"angles\" : f32[b, t, 4]\n%2 = concat(%1, %1) {axis = "
    "2}\n"
    "%3 = constant i64[1] [1]\n%4 = cos(%2)\n%5 = sin(%2)\n%6 = unsqueeze(%4, %3)\n%7 = unsqueeze(%5, %3)\n"
    "%8 = mul(%0, %6)\n%20 = constant i64[1] [0]\n%21 = constant i64[1] [4]\n%22 = constant i64[1] [3]\n"
    "%23 = constant i64[1] [9223372036854775807]\n";
const std::string kTail =
    "%11 = neg(%10)\n%12 = concat(%11, %9) {axis = -1}\n%13 = mul(%12, %7)\n%14 = add(%8, %13)\noutput \"y\" "
    "= %14\n";

TEST(RecogniseRotaryTest, HalvesBySlices) {
  std::string text =
      expect_recognised(kAngles + "%9 = slice(%0, %20, %21, %22)\n%10 = slice(%0, %21, %23, %22)\n" + kTail,
                        "recognise_rotary", "rotary_embedding");
  EXPECT_EQ(text.find("concat"), std::string::npos) << text;
}

TEST(RecogniseRotaryTest, HalvesBySplit) {
  expect_recognised(kAngles +
                        "%30:2 = split(%0) {axis = 3}\n%9 = slice(%0, %20, %21, %22)\n%11 = neg(%30#1)\n"
                        "%12 = concat(%11, %30#0) {axis = -1}\n%13 = mul(%7, %12)\n%14 = add(%13, "
                        "%8)\noutput \"y\" = %14\n",
                    "recognise_rotary", "rotary_embedding");
}

TEST(RecogniseRotaryTest, TablesOfPositions) {
  expect_recognised(
      "%0 = input \"x\" : f32[b, 3, t, 2]\n%1 = input \"positions\" : i64[b, t]\n%2 = constant f32[2, 2] [1, "
      "1, 0.5, 0.5]\n"
      "%3 = gather(%2, %1)\n%4 = constant i64[1] [1]\n%5 = unsqueeze(%3, %4)\n%6 = mul(%0, %5)\n"
      "%7 = constant i64[1] [0]\n%8 = constant i64[1] [2]\n%9 = constant i64[1] [-1]\n%10 = slice(%0, %7, "
      "%4, %9)\n"
      "%11 = slice(%0, %4, %8, %9)\n%12 = neg(%11)\n%13 = concat(%12, %10) {axis = 3}\n%14 = mul(%13, %5)\n"
      "%15 = add(%6, %14)\noutput \"y\" = %15\n",
      "recognise_rotary", "rotary_embedding");
}

TEST(RecogniseRotaryTest, AnglesThatDifferBetweenHalvesStay) {
  expect_not_recognised(
      "%0 = input \"x\" : f32[b, 3, t, 2]\n%5 = constant f32[1, 1, 1, 2] [1, 2]\n%6 = mul(%0, %5)\n%4 = "
      "constant i64[1] [1]\n"
      "%7 = constant i64[1] [0]\n%8 = constant i64[1] [2]\n%9 = constant i64[1] [-1]\n%10 = slice(%0, %7, "
      "%4, %9)\n"
      "%11 = slice(%0, %4, %8, %9)\n%12 = neg(%11)\n%13 = concat(%12, %10) {axis = 3}\n%14 = mul(%13, %5)\n"
      "%15 = add(%6, %14)\noutput \"y\" = %15\n",
      "rotary_embedding");
}

}  // namespace
}  // namespace ingot
