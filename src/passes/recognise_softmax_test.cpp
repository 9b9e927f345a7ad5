#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

const std::string kBelow =
    "%0 = input \"x\" : f32[n, 5, t]\n%1 = constant i64[1] [1]\n%2 = reduce_max(%0, %1)\n%3 = sub(%0, %2)\n"
    "%4 = exp(%3)\n%5 = reduce_sum(%4, %1)\n";

TEST(RecogniseSoftmaxTest, ExponentialsOverTheirSum) {
  expect_recognised(kBelow + "%6 = div(%4, %5)\noutput \"y\" = %6\n", "recognise_softmax", "softmax");
  expect_recognised(kBelow + "%6 = reciprocal(%5)\n%7 = mul(%6, %4)\noutput \"y\" = %7\n",
                    "recognise_softmax", "softmax");
}

TEST(RecogniseSoftmaxTest, LogSoftmax) {
  expect_recognised(kBelow + "%6 = log(%5)\n%7 = sub(%3, %6)\noutput \"y\" = %7\n", "recognise_softmax",
                    "log_softmax");
}

// As TensorFlow and JAX write it: sums lose their axis, which a reshape brings back.
TEST(RecogniseSoftmaxTest, SumsWhoseAxisComesBack) {
  expect_recognised(
      "%0 = input \"x\" : f32[n, 5]\n%1 = constant i64[1] [1]\n%2 = reduce_max(%0, %1) {keep_dims = false}\n"
      "%8 = constant i64[2] [-1, 1]\n%9 = reshape(%2, %8)\n%3 = sub(%0, %9)\n%4 = exp(%3)\n"
      "%5 = reduce_sum(%4, %1) {keep_dims = false}\n%6 = unsqueeze(%5, %1)\n%7 = div(%4, %6)\noutput \"y\" = "
      "%7\n",
      "recognise_softmax", "softmax");
}

TEST(RecogniseSoftmaxTest, AnotherAxisOrNoMaximumStays) {
  expect_not_recognised(
      "%0 = input \"x\" : f32[n, 5]\n%1 = constant i64[1] [1]\n%4 = exp(%0)\n%5 = reduce_sum(%4, %1)\n"
      "%6 = div(%4, %5)\noutput \"y\" = %6\n",
      "softmax");
  expect_not_recognised(
      kBelow + "%8 = constant i64[1] [2]\n%9 = reduce_sum(%4, %8)\n%6 = div(%4, %9)\noutput \"y\" = %6\n",
      "softmax");
}

}  // namespace
}  // namespace ingot
