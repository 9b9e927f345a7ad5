// Models that break their format, their types or good sense.
#include <filesystem>

#include "bad_case.h"
#include "support/onnx_model.h"

namespace ingot {
namespace {

using namespace onnx_model;
using wire_bytes::key;
using wire_bytes::varint;

class BadModel : public BadCase {};

const std::string kInput = input("x", f32, {"2"});
const std::string kOutput = output("y", f32, {"2"});

TEST_F(BadModel, Truncated) {
  const std::string bytes = small_model();
  expect_bad_model(bytes.substr(0, bytes.size() / 2), {"bad.onnx'", "byte", "export or download it again"});
}

TEST_F(BadModel, OversizedField) {
  expect_bad_model(number(1, 8) + key(7, 2) + varint(uint64_t{1} << 40) + "abc",
                   {"bad.onnx'", "1099511627776", "graph", "export or download it again"});
}

TEST_F(BadModel, Cyclic) {
  expect_bad_model(model(node("Add", {"x", "b"}, {"a"}) + node("Relu", {"a"}, {"b"}) +
                         node("Relu", {"b"}, {"y"}) + kInput + kOutput),
                   {"'b'", "defined before it is read"});
}

TEST_F(BadModel, OperandsOfDifferentTypes) {
  expect_bad_model(
      model(node("Add", {"x", "i"}, {"y"}, {}, "/mixed") + kInput + input("i", i64, {"2"}) + kOutput),
      {"/mixed", "Add", "f32", "i64"});
}

TEST_F(BadModel, ShapesThatDoNotFit) {
  expect_bad_model(
      model(node("Add", {"x", "z"}, {"y"}, {}, "/sum") + kInput + input("z", f32, {"3"}) + kOutput),
      {"/sum", "2", "3"});
}

TEST_F(BadModel, DataInTheFieldOfAnotherType) {
  expect_bad_model(model(node("Relu", {"w"}, {"y"}) +
                         initializer(tensor("w", f32, {2}, number(5, 1) + number(5, 2))) + kOutput),
                   {"'w'", "float_data", "int32_data"});
}

TEST_F(BadModel, DuplicateNames) {
  expect_bad_model(model(node("Relu", {"x"}, {"y"}) + node("Abs", {"x"}, {"y"}) + kInput + kOutput),
                   {"'y'", "defined once", "second definition"});
}

TEST_F(BadModel, DeeplyNestedBodies) {
  const std::string condition = initializer(tensor("c", 9, {}, raw("\x01")));
  std::string body = node("Relu", {"x"}, {"y"}) + kOutput;
  for (int depth = 0; depth < 200; ++depth)
    body =
        node("If", {"c"}, {"y"}, graph_attribute("then_branch", body) + graph_attribute("else_branch", "")) +
        kOutput;
  expect_bad_model(model(condition + body + kInput), {"nest", "at most", "found"});
}

TEST_F(BadModel, DeeplyNestedTypes) {
  std::string type = tensor_type(f32, {});
  for (int depth = 0; depth < 1000; ++depth) type = block(4, block(1, type));
  expect_bad_model(model(block(11, value_info("x", type)) + kOutput), {"nest", "at most", "found"});
}

TEST_F(BadModel, ShapeThatOverflows) {
  const int64_t huge = int64_t{1} << 40;
  expect_bad_model(
      model(node("Relu", {"w"}, {"y"}) + initializer(tensor("w", f32, {huge, huge}, raw("abcd"))) + kOutput),
      {"1099511627776"});
}

TEST_F(BadModel, MoreElementsThanBytes) {
  expect_bad_model(
      model(node("Relu", {"w"}, {"y"}) + initializer(tensor("w", f32, {1000000}, raw("abcd"))) + kOutput),
      {"'w'", "expected 4000000 bytes", "found 4 bytes", "export or download it again"});
}

TEST_F(BadModel, NegativeSize) {
  expect_bad_model(
      model(node("Relu", {"w"}, {"y"}) + initializer(tensor("w", f32, {-2}, raw("abcd"))) + kOutput),
      {"dims", "-2"});
}

// Small in the file, enormous when run: nothing may be folded into memory that is not there.
TEST_F(BadModel, ConstantThatWouldNotFitInMemory) {
  const int64_t size = int64_t{1} << 46;
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(size >> (8 * i));
  const std::string path = folder_.write(
      "huge.onnx", model(node("ConstantOfShape", {"s"}, {"y"}) +
                         initializer(tensor("s", i64, {1}, raw(bytes))) + output("y", f32, {"n"})));
  const ProgramResult r =
      run_program({INGOT_PROGRAM, "compile", path, "-q", "-o", folder_.file("huge.ingot")});
  if (r.exit_code == 0)  // a size that no machine has is a valid size of a graph
    expect_failure({"exec", folder_.file("huge.ingot"), "--random-seed", "1"}, {"281474976710656"});
  else
    EXPECT_NE(r.err.find("70368744177664"), std::string::npos) << r.err;
}

TEST_F(BadModel, UnsupportedOpsAreListedTogether) {
  expect_bad_model(model(node("Warp", {"x"}, {"a"}, {}, "/first") +
                         node("Weft", {"a"}, {"y"}, {}, "/second") + kInput + kOutput),
                   {"bad.onnx'", "2 unsupported at opset 17", "Warp (first at node '/first')",
                    "Weft (first at node '/second')"});
}

TEST_F(BadModel, ReadOfAMissingValue) {
  expect_bad_model(model(node("Relu", {"nothing"}, {"y"}) + kInput + kOutput), {"'nothing'"});
}

class BadExternalData : public BadCase {
 protected:
  void expect_refused(const std::string& location, const std::vector<std::string>& parts) const {
    expect_bad_model(
        model(node("Relu", {"w"}, {"y"}) + initializer(tensor("w", f32, {1}, external(location))) + kOutput),
        parts);
  }
};

TEST_F(BadExternalData, AboveTheFolder) {
  expect_refused("../../etc/hostname", {"'w'", "../../etc/hostname", "folder"});
}

TEST_F(BadExternalData, AbsolutePath) { expect_refused("/etc/hostname", {"'w'", "/etc/hostname", "folder"}); }

TEST_F(BadExternalData, SymbolicLinkOutOfTheFolder) {
  std::filesystem::create_symlink("/etc/hostname", folder_.file("link.bin"));
  expect_refused("link.bin", {"'w'", "link.bin", "folder"});
}

TEST_F(BadExternalData, MissingFile) { expect_refused("gone.bin", {"gone.bin", "No such file"}); }

TEST_F(BadExternalData, FileThatIsTooShort) {
  folder_.write("short.bin", "ab");
  expect_refused("short.bin", {"'w'", "short.bin", "4", "2"});
}

}  // namespace
}  // namespace ingot
