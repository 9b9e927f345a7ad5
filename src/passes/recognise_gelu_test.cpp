#include <gtest/gtest.h>

#include "passes/pattern_testing.h"

namespace ingot {
namespace {

const std::string kHead =
    "%0 = input \"x\" : f32[n, 6]\n%1 = constant f32[] [1.4142135]\n%2 = constant f32[] [0.70710677]\n"
    "%3 = constant f32[] [1]\n%4 = constant f32[] [0.5]\n%5 = constant f32[] [0.044715]\n"
    "%6 = constant f32[] [0.7978845608]\n%7 = constant f32[] [3]\n";

TEST(RecogniseGeluTest, ErfFormWithTheFactorsInAnyOrder) {
  const std::string divided = kHead + "%10 = div(%0, %1)\n%11 = erf(%10)\n%12 = add(%11, %3)\n";
  const std::string multiplied = kHead + "%10 = mul(%0, %2)\n%11 = erf(%10)\n%12 = add(%3, %11)\n";
  for (const std::string& curve : {divided, multiplied})
    for (const char* rest :
         {"%13 = mul(%0, %12)\n%14 = mul(%13, %4)\n", "%13 = mul(%12, %4)\n%14 = mul(%0, %13)\n",
          "%13 = mul(%4, %0)\n%14 = mul(%13, %12)\n"})
      expect_recognised(curve + rest + "output \"y\" = %14\n", "recognise_gelu", "gelu");
}

TEST(RecogniseGeluTest, TanhForm) {
  const std::string half = "%20 = mul(%0, %4)\n%21 = mul(%20, %19)\noutput \"y\" = %21\n";
  const std::string tanh = "%17 = mul(%6, %16)\n%18 = tanh(%17)\n%19 = add(%18, %3)\n";
  expect_recognised(kHead + "%14 = pow(%0, %7)\n%15 = mul(%5, %14)\n%16 = add(%0, %15)\n" + tanh + half,
                    "recognise_gelu", "gelu");
  expect_recognised(
      kHead + "%13 = mul(%5, %0)\n%14 = mul(%0, %13)\n%15 = mul(%0, %14)\n%16 = add(%0, %15)\n" + tanh + half,
      "recognise_gelu", "gelu");
  expect_recognised(
      kHead + "%13 = mul(%5, %0)\n%14 = mul(%0, %13)\n%15 = add(%14, %3)\n%16 = mul(%0, %15)\n" + tanh + half,
      "recognise_gelu", "gelu");
}

TEST(RecogniseGeluTest, AnotherConstantStays) {
  expect_not_recognised(kHead +
                            "%10 = div(%0, %7)\n%11 = erf(%10)\n%12 = add(%11, %3)\n%13 = mul(%0, %12)\n"
                            "%14 = mul(%13, %4)\noutput \"y\" = %14\n",
                        "gelu");
}

}  // namespace
}  // namespace ingot
