#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

const std::string kScale =
    "%0 = constant f32[] [0.1]\n%1 = constant u8[] [3]\n%2 = input \"x\" : f32[n, 6]\n";
const std::string kBytes = "%0 = constant f32[] [0.1]\n%1 = constant u8[] [1]\n%2 = input \"x\" : u8[n, 6]\n";

TEST(PlaceQuantisationTest, MovementsBetweenThePairRunOnBytes) {
  std::string text =
      expect_pass_acts(kBytes +
                           "%3 = dequantize(%2, %0, %1)\n%4 = transpose(%3)\n"
                           "%5 = constant i64[2] [3, -1]\n%6 = reshape(%4, %5)\n%7 = quantize(%6, %0, %1)\n"
                           "output \"y\" = %7\n",
                       "place_quantisation", 0);
  EXPECT_EQ(text.find("quantize"), std::string::npos) << text;
}

TEST(PlaceQuantisationTest, PairsOfDifferentScaleStay) {
  std::string text =
      expect_pass_acts(kBytes +
                           "%3 = dequantize(%2, %0, %1)\n%4 = transpose(%3)\n%5 = constant f32[] [0.2]\n"
                           "%7 = quantize(%4, %5, %1)\noutput \"y\" = %7\n",
                       "place_quantisation", 0);
  EXPECT_NE(text.find("transpose(%0) : u8"), std::string::npos) << text;
  EXPECT_NE(text.find(" quantize("), std::string::npos) << text;
}

TEST(PlaceQuantisationTest, QuantizeRisesAboveMovements) {
  std::string text = expect_pass_acts(
      kScale + "%3 = exp(%2)\n%4 = transpose(%3)\n%5 = quantize(%4, %0, %1)\noutput \"y\" = %5\n",
      "place_quantisation", 0);
  EXPECT_LT(text.find("quantize"), text.find("transpose")) << text;
}

TEST(PlaceQuantisationTest, MaxPoolRunsOnBytes) {
  std::string text = expect_pass_acts(
      "%0 = constant f32[] [0.1]\n%1 = constant u8[] [1]\n%2 = input \"x\" : u8[1, 2, n, 6]\n%3 = "
      "dequantize(%2, %0, %1)\n"
      "%4:2 = max_pool(%3) {kernel = [2, 2], pads = [1, 1, 0, 0]}\noutput \"y\" = %4#0\n",
      "place_quantisation", 0);
  EXPECT_LT(text.find("max_pool"), text.find("dequantize")) << text;
}

TEST(PlaceQuantisationTest, EachContractionHasItsOwnDequantize) {
  std::string text =
      expect_pass_acts(kBytes +
                           "%3 = dequantize(%2, %0, %1)\n%4 = transpose(%2)\n%5 = dequantize(%4, %0, %1)\n"
                           "%6 = matmul(%3, %5)\n%7 = matmul(%5, %3)\noutput \"y\" = %6\noutput \"z\" = %7\n",
                       "place_quantisation", 0);
  size_t count = 0;
  for (size_t at = 0; (at = text.find("dequantize(", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 4u) << text;
}

}  // namespace
}  // namespace ingot
