#include "import/onnx/tensor_data.h"

#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "import/onnx/wire_bytes.h"
#include "support/hex.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using namespace wire_bytes;

std::string elements_text(const OnnxTensorData& data) {
  if (data.dtype != DType::string)
    return hex_of({reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()});
  std::vector<std::string> items;
  for (const std::string& item : data.strings) items.push_back(hex_of(item));
  return fmt::format("{}", fmt::join(items, ","));
}

std::string dims_text(const std::vector<int64_t>& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

OnnxTensorData decode(const std::string& bytes) {
  const OnnxTensor tensor = parse_onnx_tensor(bytes_of(bytes), "t.pb");
  return decode_tensor(tensor, {.file = "t.pb", .owner = {}, .external = nullptr});
}

Error decode_error(const std::string& bytes) {
  return thrown_by([&] { decode(bytes); });
}

std::string typed(int data_type, const std::string& more) {
  return number(2, data_type) + block(8, "w") + more;
}

// testdata/tensors.txt comes from tools/make_onnx_testdata.py: the onnx package writes, NumPy says what is
// meant.
TEST(TensorData, AgreesWithNumPyForEveryTypeAndField) {
  std::ifstream file(INGOT_ONNX_TESTDATA "/tensors.txt");
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    SCOPED_TRACE(line);
    std::string type, field, dims, message, elements;
    std::istringstream(line) >> type >> field >> dims >> message >> elements;
    const std::string bytes = from_hex(message);
    const OnnxTensor tensor = parse_onnx_tensor(bytes_of(bytes), "t.pb");
    const OnnxTensorData data = decode_tensor(tensor, {.file = "t.pb", .owner = {}, .external = nullptr});
    EXPECT_EQ(to_string(data.dtype), type);
    EXPECT_EQ(dims_text(data.dims), dims);
    EXPECT_EQ(elements_text(data), elements == "-" ? "" : elements);
    EXPECT_EQ(to_string(tensor.field), elements == "-" ? "no field" : field);
  }
  EXPECT_GE(count, 90);
}

TEST(TensorData, DoesNotCopyWhatIsAlreadyInElementForm) {
  const std::string raw = typed(1, number(1, 1) + block(9, "1234"));
  const std::string packed = typed(1, number(1, 1) + block(4, "1234"));
  for (const std::string& bytes : {raw, packed}) {
    const auto owner = std::make_shared<int>(1);
    const OnnxTensor tensor = parse_onnx_tensor(bytes_of(bytes), "t.pb");
    const OnnxTensorData data = decode_tensor(tensor, {.file = "t.pb", .owner = owner, .external = nullptr});
    EXPECT_EQ(reinterpret_cast<const char*>(data.bytes.data()), bytes.data() + bytes.find("1234"));
    EXPECT_EQ(data.owner, owner);
  }
}

TEST(TensorData, JoinsUnpackedValues) {
  EXPECT_EQ(elements_text(decode(typed(1, number(1, 2) + fixed32(4, 1.0f) + fixed32(4, 2.0f)))),
            "0000803f00000040");
  EXPECT_EQ(elements_text(decode(typed(3, number(1, 3) + number(5, -1) + block(5, varint(2) + varint(3))))),
            "ff0203");
}

TEST(TensorData, AcceptsBitPatternsWrittenWithASign) {
  EXPECT_EQ(elements_text(decode(typed(10, number(1, 1) + number(5, -32768)))), "0080");
  EXPECT_EQ(elements_text(decode(typed(22, number(1, 2) + number(5, -128)))), "80");
}

TEST(TensorData, ClearsPaddingBitsInACopy) {
  const std::string bytes = typed(21, number(1, 3) + block(9, "\x21\xf3"));
  EXPECT_EQ(elements_text(decode(bytes)), "2103");
  EXPECT_NE(bytes.find("\x21\xf3"), std::string::npos);
}

TEST(TensorData, RefusesSizesThatDoNotFitTheShape) {
  const Error raw = decode_error(typed(1, number(1, 2) + number(1, 3) + block(9, "12345678")));
  EXPECT_STREQ(
      raw.what(),
      "ONNX tensor 'w': expected 24 bytes for f32 of shape [2, 3], found 8 bytes in raw_data (file 't.pb', "
      "byte 0). The file is damaged or is no ONNX file: export or download it again.");
  EXPECT_EQ(raw.code(), ErrorCode::corrupt);
  EXPECT_EQ(decode_error(typed(7, number(1, 2) + number(7, 1))).parts().expected,
            "16 bytes for i64 of shape [2]");
  EXPECT_EQ(decode_error(typed(22, number(1, 5) + block(9, "12"))).parts().expected,
            "3 bytes for i4 of shape [5]");
  EXPECT_EQ(decode_error(typed(1, "")).parts().observed, "0 bytes in no field (file 't.pb', byte 0)");
  EXPECT_EQ(decode_error(typed(1, number(1, 0) + block(9, "1234"))).parts().expected,
            "0 bytes for f32 of shape [0]");
  EXPECT_EQ(decode_error(typed(8, number(1, 2) + block(6, "a"))).parts().expected, "2 strings for shape [2]");
  EXPECT_EQ(decode_error(typed(11, number(1, int64_t{1} << 60))).parts().observed,
            "shape [1152921504606846976] (file 't.pb', byte 0)");
}

TEST(TensorData, RefusesDataInTheFieldOfAnotherType) {
  EXPECT_STREQ(
      decode_error(typed(1, number(1, 1) + number(5, 1))).what(),
      "ONNX tensor 'w': expected elements of type f32 in float_data, found them in int32_data (file 't.pb', "
      "byte 0). The file is damaged or is no ONNX file: export or download it again.");
  EXPECT_EQ(decode_error(typed(8, number(1, 1) + block(9, "a"))).parts().observed,
            "them in raw_data (file 't.pb', byte 0)");
}

TEST(TensorData, RefusesValuesOutsideTheirType) {
  auto expected = [](int type, int field, int64_t value) {
    return decode_error(typed(type, number(1, 1) + number(static_cast<uint32_t>(field), value)))
        .parts()
        .expected;
  };
  EXPECT_EQ(expected(2, 5, 256), "0 to 255 for type u8");
  EXPECT_EQ(expected(2, 5, -1), "0 to 255 for type u8");
  EXPECT_EQ(expected(3, 5, 128), "-128 to 127 for type i8");
  EXPECT_EQ(expected(5, 5, 32768), "-32768 to 32767 for type i16");
  EXPECT_EQ(expected(9, 5, 2), "0 to 1 for type bool");
  EXPECT_EQ(expected(10, 5, 65536), "-32768 to 65535 for type f16");
  EXPECT_EQ(expected(12, 11, int64_t{1} << 32), "0 to 4294967295 for type u32");
  EXPECT_EQ(expected(22, 5, 256), "-128 to 255 for type i4");
  EXPECT_STREQ(
      decode_error(typed(2, number(1, 1) + number(5, 256))).what(),
      "ONNX file 't.pb': expected 0 to 255 for type u8, found 256 in int32_data at byte 8. The file is "
      "damaged or is no ONNX file: export or download it again.");
}

TEST(TensorData, RefusesBooleansOtherThanZeroAndOne) {
  EXPECT_EQ(decode_error(typed(9, number(1, 2) + block(9, "\x01\x02"))).parts().observed,
            "2 in element 1 (file 't.pb', byte 0)");
}

TEST(TensorData, RefusesTypesItDoesNotKnow) {
  EXPECT_STREQ(
      thrown_by([] { dtype_from_onnx(14, "x"); }).what(),
      "ONNX element type of 'x': expected a type from 1 to 26 without complex numbers, found 14, a complex "
      "type. Export it with another opset or other options; docs/onnx_coverage.md lists what is supported.");
  EXPECT_EQ(thrown_by([] { dtype_from_onnx(15, "x"); }).code(), ErrorCode::unsupported);
  EXPECT_EQ(thrown_by([] { dtype_from_onnx(27, "x"); }).code(), ErrorCode::unsupported);
  EXPECT_EQ(thrown_by([] { dtype_from_onnx(0, "x"); }).code(), ErrorCode::corrupt);
}

TEST(TensorData, RefusesExternalDataWithoutAFolder) {
  const Error e = decode_error(typed(1, number(14, 1)));
  EXPECT_EQ(e.code(), ErrorCode::unsupported);
  EXPECT_EQ(e.parts().expected, "data inside the file");
}

}  // namespace
}  // namespace ingot
