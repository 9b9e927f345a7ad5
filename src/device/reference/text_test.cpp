#include <gtest/gtest.h>

#include "device/reference/evaluate.h"
#include "device/reference/text_case.h"
#include "support/thrown_by.h"

namespace ingot::reference {
namespace {

// Expected values: str.lower() and str.upper() of Python 3.11.
TEST(TextCase, MapsLatinGreekAndCyrillicLetters) {
  EXPECT_EQ(lower_case("ABCxyz 09 ÀÉÎÕÜÞ ĀŁŹŸ ΑΣΩΆΈΌΎ АБЯЁЂҐӐ"), "abcxyz 09 àéîõüþ āłźÿ ασωάέόύ абяёђґӑ");
  EXPECT_EQ(upper_case("abcxyz 09 àéîõüþ āłźÿ ασωάέόύ абяёђґӑ"), "ABCXYZ 09 ÀÉÎÕÜÞ ĀŁŹŸ ΑΣΩΆΈΌΎ АБЯЁЂҐӐ");
}

TEST(TextCase, LeavesOtherTextAndBrokenBytesAlone) {
  EXPECT_EQ(upper_case("×÷ 漢字 \xf0\x9f\x98\x80"), "×÷ 漢字 \xf0\x9f\x98\x80");
  EXPECT_EQ(lower_case("\xc3"), "\xc3");
  EXPECT_EQ(lower_case("\xc3\x28\xff"), "\xc3\x28\xff");
}

Tensor run(const Attrs& attrs, Tensor x) {
  GraphBuilder g;
  g.output("y", g.add(attrs, {g.input("x", Type::of(x))})[0]);
  return evaluate(std::move(g).finish(), std::vector<Datum>{std::move(x)})[0].tensor();
}

TEST(RegexFullMatch, RefusesBrokenAndOversizedPatterns) {
  Tensor x = Tensor::of_strings({1}, {"aaaa"});
  for (const char* pattern : {"(", "a{1001}", "((((a{100}){100}){100}){100})"}) {
    RegexFullMatchAttrs attrs;
    attrs.pattern = pattern;
    EXPECT_EQ(thrown_by([&] { run(attrs, x); }).code(), ErrorCode::invalid_argument) << pattern;
  }
}

TEST(StringSplit, KeepsTheRestInTheLastPiece) {
  StringSplitAttrs attrs;
  attrs.max_split = 1;
  Tensor pieces = run(attrs, Tensor::of_strings({2}, {" a  b c ", ""}));
  EXPECT_EQ(pieces.shape(), (Shape{2, 2}));
  // "'' a  b c '.split(None, 1)" and "''.split()" of Python.
  EXPECT_EQ(pieces.strings()[0], "a");
  EXPECT_EQ(pieces.strings()[1], "b c ");
  EXPECT_EQ(pieces.strings()[2], "");
}

}  // namespace
}  // namespace ingot::reference
