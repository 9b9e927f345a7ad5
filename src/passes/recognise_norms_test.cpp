#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

const std::string kCentred =
    "%0 = input \"x\" : f32[n, t, 8]\n%1 = constant i64[1] [-1]\n%2 = reduce_mean(%0, %1)\n%3 = sub(%0, "
    "%2)\n";
const std::string kConstants =
    "%20 = constant f32[] [2]\n%21 = constant f32[] [0.00001]\n%22 = constant f32[] [1]\n"
    "%23 = constant f32[8] [1, 2, 3, 4, 5, 6, 7, 8]\n%24 = constant f32[8] [8, 7, 6, 5, 4, 3, 2, 1]\n";
const std::string kTail = "%8 = mul(%23, %7)\n%9 = add(%8, %24)\noutput \"y\" = %9\n";

TEST(RecogniseNormsTest, LayerNormAsPyTorchWritesIt) {
  std::string text = expect_recognised(kConstants + kCentred +
                                           "%4 = pow(%3, %20)\n%5 = reduce_mean(%4, %1)\n"
                                           "%6 = add(%5, %21)\n%10 = sqrt(%6)\n%7 = div(%3, %10)\n" +
                                           kTail,
                                       "recognise_norms", "layer_norm");
  EXPECT_EQ(text.find("mul"), std::string::npos) << text;
  EXPECT_EQ(text.find("add"), std::string::npos) << text;
}

TEST(RecogniseNormsTest, LayerNormWithSquaresAndReciprocal) {
  const std::string squares =
      "%4 = mul(%3, %3)\n%5 = reduce_mean(%4, %1)\n%6 = add(%5, %21)\n%10 = sqrt(%6)\n";
  expect_recognised(kConstants + kCentred + squares + "%11 = reciprocal(%10)\n%7 = mul(%11, %3)\n" + kTail,
                    "recognise_norms", "layer_norm");
  expect_recognised(
      kConstants + kCentred + squares + "%11 = div(%22, %10)\n%7 = mul(%3, %11)\noutput \"y\" = %7\n",
      "recognise_norms", "layer_norm");
}

TEST(RecogniseNormsTest, LayerNormAsTensorFlowFoldsIt) {
  std::string text =
      expect_recognised(kConstants + kCentred +
                            "%4 = mul(%3, %3)\n%5 = reduce_mean(%4, %1)\n%6 = add(%5, %21)\n%10 = sqrt(%6)\n"
                            "%11 = reciprocal(%10)\n%12 = mul(%11, %23)\n%13 = mul(%0, %12)\n%14 = mul(%2, "
                            "%12)\n%15 = sub(%24, %14)\n"
                            "%16 = add(%13, %15)\noutput \"y\" = %16\n",
                        "recognise_norms", "layer_norm");
  EXPECT_EQ(text.find("mul"), std::string::npos) << text;
}

TEST(RecogniseNormsTest, LayerNormWhoseScaleJoinsTheRootFirst) {
  expect_recognised(kConstants + kCentred +
                        "%4 = mul(%3, %3)\n%5 = reduce_mean(%4, %1)\n%6 = add(%5, %21)\n"
                        "%10 = sqrt(%6)\n%11 = reciprocal(%10)\n%12 = mul(%11, %23)\n%8 = mul(%3, %12)\n"
                        "%9 = add(%8, %24)\noutput \"y\" = %9\n",
                    "recognise_norms", "layer_norm");
}

TEST(RecogniseNormsTest, RmsNormComputesInF32BetweenCasts) {
  const std::string body =
      "%0 = input \"x\" : f16[n, 8]\n%1 = constant i64[1] [1]\n%2 = cast(%0) {to = f32}\n%3 = constant f32[] "
      "[2]\n"
      "%4 = pow(%2, %3)\n%5 = reduce_mean(%4, %1)\n%6 = constant f32[] [0.00001]\n%7 = add(%5, %6)\n%8 = "
      "sqrt(%7)\n"
      "%9 = reciprocal(%8)\n%10 = mul(%2, %9)\n%11 = cast(%10) {to = f16}\n"
      "%12 = constant f16[8] [1, 2, 3, 4, 5, 6, 7, 8]\n%13 = mul(%12, %11)\noutput \"y\" = %13\n";
  std::string text = expect_recognised(body, "recognise_norms", "rms_norm", 1, 1e-3);
  EXPECT_EQ(text.find("cast"), std::string::npos) << text;
}

TEST(RecogniseNormsTest, ANormOfOtherAxesStays) {
  expect_not_recognised(
      kConstants +
          "%0 = input \"x\" : f32[n, 8, 3]\n%1 = constant i64[1] [1]\n%2 = reduce_mean(%0, %1)\n"
          "%3 = sub(%0, %2)\n%4 = mul(%3, %3)\n%5 = reduce_mean(%4, %1)\n%6 = add(%5, %21)\n%10 = sqrt(%6)\n"
          "%7 = div(%3, %10)\noutput \"y\" = %7\n",
      "layer_norm");
}

TEST(RecogniseNormsTest, AVarianceThatIsReadElsewhereStays) {
  expect_not_recognised(
      kConstants + kCentred +
          "%4 = mul(%3, %3)\n%5 = reduce_mean(%4, %1)\n%6 = add(%5, %21)\n"
          "%10 = sqrt(%6)\n%7 = div(%3, %10)\noutput \"y\" = %7\noutput \"variance\" = %5\n",
      "layer_norm");
}

}  // namespace
}  // namespace ingot
