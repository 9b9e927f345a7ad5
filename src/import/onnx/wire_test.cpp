#include "import/onnx/wire.h"

#include "base/bytes.h"
#include "import/onnx/wire_bytes.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using namespace wire_bytes;

std::string error_of(const std::string& bytes, const std::function<void(WireReader&)>& read) {
  return thrown_by([&] {
           WireReader reader(bytes_of(bytes), "m.onnx");
           while (reader.next()) read(reader);
         })
      .what();
}

std::string refusal(std::string_view reason) {
  return fmt::format(
      "ONNX file 'm.onnx': {}. The file is damaged or is no ONNX file: export or download it again.", reason);
}

void skip(WireReader& r) { r.skip(); }

TEST(WireReader, ReadsEveryScalarAsAView) {
  const std::string bytes = number(1, -5) + fixed32(2, 1.5f) + block(3, "abc") + number(4, 70000);
  WireReader r(bytes_of(bytes), "m.onnx");
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.int64("a"), -5);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.float32("b"), 1.5f);
  ASSERT_TRUE(r.next());
  const std::string_view text = r.text("c");
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(text.data(), bytes.data() + bytes.find("abc"));
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.field(), 4u);
  EXPECT_EQ(r.int32("d"), 70000);
  EXPECT_FALSE(r.next());
}

TEST(WireReader, AppendsPackedAndUnpackedValuesAlike) {
  const std::string bytes =
      number(1, 7) + block(1, varint(300) + varint(static_cast<uint64_t>(-1))) + number(1, 8);
  WireReader r(bytes_of(bytes), "m.onnx");
  std::vector<int64_t> values;
  while (r.next()) r.append_int64s("ints", values);
  EXPECT_EQ(values, (std::vector<int64_t>{7, 300, -1, 8}));

  const std::string floats = block(1, little_endian(1.0f) + little_endian(2.0f)) + fixed32(1, 3.0f);
  WireReader f(bytes_of(floats), "m.onnx");
  std::vector<float> out;
  while (f.next()) f.append_floats("floats", out);
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3}));
}

TEST(WireReader, SkipsUnknownFieldsOfEveryWireType) {
  const std::string bytes =
      number(90, 1) + block(91, "xyz") + fixed32(92, 1) + key(93, 1) + std::string(8, '\0');
  WireReader r(bytes_of(bytes), "m.onnx");
  int fields = 0;
  for (; r.next(); ++fields) r.skip();
  EXPECT_EQ(fields, 4);
}

TEST(WireReader, RefusesFieldNumbersOutsideTheFormat) {
  EXPECT_EQ(error_of(std::string(1, '\0'), skip),
            refusal("expected a field number from 1 to 536870911, found 0 in the message at byte 0"));
  EXPECT_EQ(error_of(number(1, 1) + varint(uint64_t{536870912} << 3), skip),
            refusal("expected a field number from 1 to 536870911, found 536870912 in the message at byte 2"));
}

TEST(WireReader, RefusesGroupsAndUnknownWireTypes) {
  EXPECT_EQ(error_of(key(1, 3), skip),
            refusal("expected no groups, found the start of a group in the message at byte 0"));
  EXPECT_EQ(error_of(key(1, 4), skip),
            refusal("expected no groups, found the end of a group in the message at byte 0"));
  EXPECT_EQ(error_of(number(1, 1) + key(1, 7), skip),
            refusal("expected a wire type from 0 to 5, found 7 in the message at byte 2"));
}

TEST(WireReader, RefusesVarintsThatAreCutOffOrTooLong) {
  EXPECT_EQ(
      error_of(key(1, 0) + "\xff\xff", skip),
      refusal("expected a complete varint, found the end of the message inside it in the message at byte 1"));
  const std::string too_long =
      refusal("expected a varint of at most 64 bits, found a longer one in the message at byte 1");
  EXPECT_EQ(error_of(key(1, 0) + std::string(9, '\xff') + "\x02", skip), too_long);
  EXPECT_EQ(error_of(key(1, 0) + std::string(10, '\x80') + "\x01", skip), too_long);
}

TEST(WireReader, AcceptsTheLargestVarint) {
  const std::string bytes = key(1, 0) + std::string(9, '\xff') + "\x01";
  WireReader r(bytes_of(bytes), "m.onnx");
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.int64("v"), -1);
}

TEST(WireReader, RefusesLengthsBeyondTheMessage) {
  auto text = [](WireReader& r) { r.text("producer_name"); };
  EXPECT_EQ(error_of(key(2, 2) + varint(5) + "abcd", text),
            refusal("expected a length of at most 4 bytes, the rest of the message, found 5 in producer_name "
                    "at byte 1"));
  EXPECT_EQ(error_of(key(2, 2) + varint(UINT64_MAX), text),
            refusal("expected a length of at most 0 bytes, the rest of the message, found "
                    "18446744073709551615 in producer_name at byte 1"));
}

TEST(WireReader, RefusesLengthsThatLeaveTheNestedMessageButNotTheFile) {
  const std::string bytes = block(7, key(2, 2) + varint(3) + "ab") + block(9, "abcdef");
  EXPECT_EQ(error_of(bytes,
                     [](WireReader& r) {
                       WireReader graph = r.message("graph");
                       while (graph.next()) graph.text({"input", 3});
                     }),
            refusal("expected a length of at most 2 bytes, the rest of the message, found 3 in "
                    "graph.input[3] at byte 3"));
}

TEST(WireReader, RefusesFixedWidthValuesThatAreCutOff) {
  EXPECT_EQ(error_of(key(1, 5) + "abc", [](WireReader& r) { r.float32("f"); }),
            refusal("expected 4 more bytes, found 3 to the end of the message in the message at byte 1"));
  EXPECT_EQ(error_of(key(1, 1) + "abcdefg", skip),
            refusal("expected 8 more bytes, found 7 to the end of the message in the message at byte 0"));
}

TEST(WireReader, RefusesValuesOfAnotherWireType) {
  EXPECT_EQ(error_of(number(1, 4), [](WireReader& r) { r.text("name"); }),
            refusal("expected length-prefixed bytes, found a varint in name at byte 0"));
  EXPECT_EQ(error_of(fixed32(1, 4), [](WireReader& r) { r.int64("version"); }),
            refusal("expected a varint, found 4 bytes in version at byte 0"));
  EXPECT_EQ(error_of(number(1, 4), [](WireReader& r) { r.values("float_data", WireType::fixed32); }),
            refusal("expected 4 bytes, found a varint in float_data at byte 0"));
}

TEST(WireReader, RefusesIntegersOfMoreThan32Bits) {
  EXPECT_EQ(error_of(number(2, int64_t{1} << 31), [](WireReader& r) { r.int32("data_type"); }),
            refusal("expected a value of 32 bits, found 2147483648 in data_type at byte 1"));
}

TEST(WireReader, RefusesPackedValuesThatAreNoWholeNumber) {
  EXPECT_EQ(error_of(block(4, "abcde"), [](WireReader& r) { r.values("float_data", WireType::fixed32); }),
            refusal("expected a multiple of 4 bytes, found 5 bytes in float_data at byte 1"));
  EXPECT_EQ(error_of(block(5, "\x05\x80"),
                     [](WireReader& r) {
                       std::vector<int64_t> out;
                       r.append_int64s("ints", out);
                     }),
            refusal("expected a complete varint, found the end of the message inside it in ints at byte 3"));
}

void descend(WireReader& r) {
  WireReader inner = r.message("g");
  while (inner.next()) descend(inner);
}

std::string nested(int depth) {
  std::string bytes;
  for (int i = 0; i < depth; ++i) bytes = block(1, bytes);
  return bytes;
}

TEST(WireReader, StopsAtItsDepthLimit) {
  const std::string deepest = nested(kMaxWireDepth);
  WireReader r(bytes_of(deepest), "m.onnx");
  ASSERT_TRUE(r.next());
  EXPECT_NO_THROW(descend(r));

  const std::string message = error_of(nested(kMaxWireDepth + 1), descend);
  EXPECT_NE(message.find("expected messages nested at most 100 deep, found 101 in g.g.g."), std::string::npos)
      << message;
}

TEST(WireReader, NamesTheFileWithoutControlCharacters) {
  const Error e = thrown_by([] {
    WireReader r(bytes_of(std::string_view("\x80", 1)), "a\n\x1b[31m.onnx");
    r.next();
  });
  EXPECT_EQ(e.parts().name, "a\\x0a\\x1b[31m.onnx");
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
}

TEST(Printable, KeepsValidUtf8AndEscapesTheRest) {
  EXPECT_EQ(printable("Gewicht/\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "Gewicht/\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\x7f\xc2\x9b\xff\xc3"), "\\x7f\\xc2\\x9b\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
  EXPECT_EQ(printable(std::string(200, 'a')), fmt::format("{:a<128}...", ""));
}

}  // namespace
}  // namespace ingot
