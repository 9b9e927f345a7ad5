#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

const std::string kHead =
    "%0 = input \"x\" : f32[n, 6]\n%1 = constant f32[] [3]\n%2 = constant f32[] [0]\n%3 = constant f32[] "
    "[6]\n"
    "%4 = constant f32[] [1.702]\n";
const std::string kRamp = "%5 = add(%0, %1)\n%6 = clamp(%5, %2, %3)\n";

TEST(RecogniseActivationsTest, ClampFromItsBoundsInEitherOrder) {
  expect_recognised(kHead + "%5 = max(%2, %0)\n%6 = min(%5, %3)\noutput \"y\" = %6\n",
                    "recognise_activations", "clamp");
  expect_recognised(kHead + "%5 = min(%0, %3)\n%6 = max(%5, %2)\noutput \"y\" = %6\n",
                    "recognise_activations", "clamp");
  expect_not_recognised(kHead + "%5 = min(%0, %2)\n%6 = max(%5, %3)\noutput \"y\" = %6\n", "clamp");
}

TEST(RecogniseActivationsTest, Swish) {
  expect_recognised(kHead + "%5 = sigmoid(%0)\n%6 = mul(%5, %0)\noutput \"y\" = %6\n",
                    "recognise_activations", "swish");
  std::string text =
      expect_recognised(kHead + "%5 = mul(%4, %0)\n%6 = sigmoid(%5)\n%7 = mul(%0, %6)\noutput \"y\" = %7\n",
                        "recognise_activations", "swish");
  EXPECT_NE(text.find("alpha = 1.702"), std::string::npos) << text;
}

TEST(RecogniseActivationsTest, HardSwishAndHardSigmoid) {
  expect_recognised(kHead + kRamp + "%7 = mul(%0, %6)\n%8 = div(%7, %3)\noutput \"y\" = %8\n",
                    "recognise_activations", "hard_swish");
  expect_recognised(kHead + kRamp + "%7 = div(%6, %3)\n%8 = mul(%0, %7)\noutput \"y\" = %8\n",
                    "recognise_activations", "hard_swish");
  expect_recognised(kHead + kRamp + "%7 = div(%6, %3)\noutput \"y\" = %7\n", "recognise_activations",
                    "hard_sigmoid");
}

TEST(RecogniseActivationsTest, AGateOfAnotherValueStays) {
  expect_not_recognised(kHead + "%5 = exp(%0)\n%6 = sigmoid(%5)\n%7 = mul(%0, %6)\noutput \"y\" = %7\n",
                        "swish");
}

}  // namespace
}  // namespace ingot
