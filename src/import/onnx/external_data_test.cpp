#include "import/onnx/external_data.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/bytes.h"
#include "import/onnx/tensor_data.h"
#include "import/onnx/wire_bytes.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using namespace wire_bytes;

std::string entry(std::string_view key, std::string_view value) {
  return block(13, block(1, key) + block(2, value));
}

// A TensorProto of two bytes, type u8, with the given external_data entries.
std::string external(const std::string& entries) {
  return number(1, 2) + number(2, 2) + block(8, "w") + number(14, 1) + entries;
}

class ExternalData : public testing::Test {
 protected:
  OnnxTensorData decode(const std::string& entries) {
    const std::string bytes = external(entries);
    const OnnxTensor tensor = parse_onnx_tensor(bytes_of(bytes), "m.onnx");
    return decode_tensor(tensor, {.file = "m.onnx", .owner = {}, .external = &files_});
  }

  std::string text(const std::string& entries) {
    const OnnxTensorData data = decode(entries);
    return {reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()};
  }

  Error error(const std::string& entries) {
    return thrown_by([&] { decode(entries); });
  }

  void expect_refused(const std::string& location, std::string_view observed) {
    const Error e = error(entry("location", location));
    EXPECT_EQ(e.code(), ErrorCode::corrupt);
    EXPECT_EQ(e.parts().object, "external data of tensor");
    EXPECT_EQ(e.parts().name, "w");
    EXPECT_EQ(e.parts().expected,
              fmt::format("a location inside the folder '{}'", std::filesystem::canonical(model_).string()));
    EXPECT_EQ(e.parts().observed, fmt::format("{} (ONNX file 'm.onnx', byte 0)", observed));
    EXPECT_FALSE(e.parts().remedy.empty());
  }

  static std::string make_model_folder(const TempFolder& root) {
    std::filesystem::create_directory(root.file("model"));
    return root.file("model");
  }

  TempFolder root_;
  std::string model_ = make_model_folder(root_);
  OnnxExternalFiles files_{model_};
};

TEST_F(ExternalData, ReadsRangesOfOneSharedMapping) {
  root_.write("model/w.bin", "abcdef");
  EXPECT_EQ(text(entry("location", "w.bin")), "ab");
  EXPECT_EQ(text(entry("location", "w.bin") + entry("offset", "4") + entry("length", "2")), "ef");
  const OnnxTensorData first = decode(entry("location", "w.bin"));
  const OnnxTensorData second =
      decode(entry("location", "./w.bin") + entry("offset", "1") + entry("comment", "x"));
  EXPECT_EQ(first.owner, second.owner);
  EXPECT_EQ(first.bytes.data() + 1, second.bytes.data());
}

TEST_F(ExternalData, ViewsOutliveTheFileAndTheReader) {
  root_.write("model/w.bin", "abcdef");
  OnnxTensorData data;
  {
    OnnxExternalFiles files(model_);
    const std::string bytes = external(entry("location", "w.bin"));
    const OnnxTensor tensor = parse_onnx_tensor(bytes_of(bytes), "m.onnx");
    data = decode_tensor(tensor, {.file = "m.onnx", .owner = {}, .external = &files});
  }
  std::filesystem::remove(model_ + "/w.bin");
  EXPECT_EQ(static_cast<char>(data.bytes[1]), 'b');
}

TEST_F(ExternalData, FollowsPathsAndLinksThatStayInside) {
  std::filesystem::create_directory(model_ + "/sub");
  root_.write("model/w.bin", "abcdef");
  std::filesystem::create_symlink("../w.bin", model_ + "/sub/link.bin");
  EXPECT_EQ(text(entry("location", "sub/link.bin")), "ab");
  EXPECT_EQ(text(entry("location", "sub/../w.bin")), "ab");
}

TEST_F(ExternalData, RefusesEveryWayOutOfTheFolder) {
  root_.write("secret", "abcdef");
  std::filesystem::create_directory(root_.file("model2"));
  root_.write("model2/w.bin", "abcdef");
  std::filesystem::create_symlink(root_.file("secret"), model_ + "/absolute_link");
  std::filesystem::create_symlink("..", model_ + "/up");
  const std::string outside = std::filesystem::canonical(root_.file("secret")).string();
  expect_refused("/etc/passwd", "the absolute path '/etc/passwd'");
  expect_refused("../secret", "'../secret'");
  expect_refused("../model/w.bin", "'../model/w.bin'");
  expect_refused("../model2/w.bin", "'../model2/w.bin'");
  expect_refused("sub/../../secret", "'sub/../../secret'");
  expect_refused("absolute_link", fmt::format("'absolute_link', which is '{}'", outside));
  expect_refused("up/secret", fmt::format("'up/secret', which is '{}'", outside));
  expect_refused("up/model2/w.bin",
                 fmt::format("'up/model2/w.bin', which is '{}'",
                             std::filesystem::canonical(root_.file("model2/w.bin")).string()));
}

TEST_F(ExternalData, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((model_ + "/pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(model_ + "/sub");
  EXPECT_EQ(error(entry("location", "pipe")).parts().observed,
            "'pipe', which is none (ONNX file 'm.onnx', byte 0)");
  EXPECT_EQ(error(entry("location", "sub")).parts().expected, "a regular file");
}

TEST_F(ExternalData, NamesAMissingFile) {
  const Error e = error(entry("location", "gone.bin"));
  EXPECT_EQ(e.code(), ErrorCode::not_found);
  EXPECT_EQ(e.parts().expected,
            fmt::format("the file 'gone.bin' in '{}'", std::filesystem::canonical(model_).string()));
  EXPECT_EQ(thrown_by([&] { OnnxExternalFiles files(root_.file("nowhere")); }).code(), ErrorCode::not_found);
}

TEST_F(ExternalData, RefusesRangesOutsideTheFile) {
  root_.write("model/w.bin", "abcdef");
  const std::string location = entry("location", "w.bin");
  EXPECT_EQ(error(location + entry("offset", "5")).parts().observed,
            "2 bytes at offset 5 (ONNX file 'm.onnx', byte 0)");
  EXPECT_EQ(error(location + entry("offset", "5")).parts().expected, "a range inside the 6 bytes of 'w.bin'");
  EXPECT_EQ(error(location + entry("offset", "18446744073709551615")).parts().observed,
            "2 bytes at offset 18446744073709551615 (ONNX file 'm.onnx', byte 0)");
  EXPECT_EQ(error(location + entry("length", "3")).parts().expected, "2 bytes for its type and shape");
}

TEST_F(ExternalData, RefusesEntriesThatMakeNoSense) {
  EXPECT_EQ(error("").parts().expected, "a 'location'");
  EXPECT_EQ(error(entry("location", "a") + entry("location", "b")).parts().observed,
            "'location' twice (ONNX file 'm.onnx', byte 0)");
  for (const char* number : {"", "-1", "+1", " 1", "1 ", "0x10", "18446744073709551616", "1e3"}) {
    const Error e = error(entry("location", "a") + entry("offset", number));
    EXPECT_EQ(e.parts().expected, "'offset' as a decimal number below 2^64") << number;
  }
  EXPECT_EQ(error(entry("location", std::string_view("a\0b", 3))).parts().expected,
            "a location without zero bytes");
}

}  // namespace
}  // namespace ingot
