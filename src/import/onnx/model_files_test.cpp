// Reads the models and data of the ONNX conformance set and compares a sample with what the onnx package
// finds in them.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/mapped_file.h"
#include "import/onnx/messages.h"
#include "import/onnx/tensor_data.h"
#include "support/test_data.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class ModelFiles : public testing::Test {
 protected:
  void SetUp() override {
    INGOT_MODEL_OR_SKIP(folder, "onnx-1.22.0");
    folder_ = folder;
  }

  fs::path folder_;
};

std::string fnv(std::string_view bytes) {
  uint64_t value = 0xcbf29ce484222325;
  for (char c : bytes) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", value);
}

void list_operators(const OnnxGraph& graph, std::vector<std::string_view>& out) {
  for (const OnnxNode& node : graph.nodes) {
    out.push_back(node.op_type);
    for (const OnnxAttribute& attribute : node.attributes)
      for (const OnnxGraph& inner : attribute.graphs) list_operators(inner, out);
  }
}

std::string tensor_text(const OnnxTensor& tensor, const std::string& file, char separator) {
  const OnnxTensorData data = decode_tensor(tensor, {.file = file, .owner = {}, .external = nullptr});
  std::string content(reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size());
  for (const std::string& item : data.strings) content += item + "\n";
  const std::string dims = data.dims.empty() ? "scalar" : fmt::format("{}", fmt::join(data.dims, "x"));
  return fmt::format("{}{}{}{}{}", to_string(data.dtype), separator, dims, separator, fnv(content));
}

std::string model_text(const OnnxModel& model, const std::string& file) {
  std::vector<std::string_view> operators;
  list_operators(model.graph, operators);
  std::vector<std::string> initializers;
  for (const OnnxTensor& tensor : model.graph.initializers)
    initializers.push_back(fmt::format("{}:{}", tensor.name, tensor_text(tensor, file, ':')));
  return fmt::format("{} {} {}", operators.size(), fnv(fmt::format("{}", fmt::join(operators, ","))),
                     initializers.empty() ? "-" : fmt::format("{}", fmt::join(initializers, ";")));
}

void read_data_file(const OnnxType& type, const std::string& path) {
  const auto file = MappedFile::open(path);
  if (type.kind == OnnxType::Kind::sequence) {
    parse_onnx_sequence(file->bytes(), path);
  } else if (type.kind == OnnxType::Kind::optional) {
    parse_onnx_optional(file->bytes(), path);
  } else {
    decode_tensor(parse_onnx_tensor(file->bytes(), path), {.file = path, .owner = {}, .external = nullptr});
  }
}

// Reads what belongs to a model's inputs or outputs, "input" or "output".
int read_data_files(const fs::path& folder, const std::vector<OnnxValueInfo>& values, const char* prefix) {
  int count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(path) || fs::file_size(path) == 0) continue;
    SCOPED_TRACE(path);
    EXPECT_NO_THROW(read_data_file(values[i].type, path.string()));
    ++count;
  }
  return count;
}

TEST_F(ModelFiles, EveryModelAndDataFileIsRead) {
  int models = 0;
  int data = 0;
  for (const fs::directory_entry& suite : fs::directory_iterator(folder_)) {
    if (!suite.is_directory()) continue;
    for (const fs::directory_entry& test : fs::directory_iterator(suite.path())) {
      const std::string path = (test.path() / "model.onnx").string();
      if (!fs::exists(path)) continue;
      SCOPED_TRACE(path);
      const auto file = MappedFile::open(path);
      OnnxModel model;
      EXPECT_NO_THROW(model = parse_onnx_model(file->bytes(), path));
      EXPECT_FALSE(model.opsets.empty());
      data += read_data_files(test.path() / "test_data_set_0", model.graph.inputs, "input");
      data += read_data_files(test.path() / "test_data_set_0", model.graph.outputs, "output");
      ++models;
    }
  }
  EXPECT_GE(models, 1900);
  EXPECT_GE(data, 5000);
}

// testdata/models.txt comes from tools/make_onnx_testdata.py.
TEST_F(ModelFiles, ASampleHoldsWhatTheOnnxPackageFindsInIt) {
  std::ifstream sample(INGOT_ONNX_TESTDATA "/models.txt");
  int count = 0;
  for (std::string line; std::getline(sample, line); ++count) {
    SCOPED_TRACE(line);
    std::string kind, name, expected;
    std::istringstream words(line);
    std::getline(words >> kind >> name >> std::ws, expected);
    const std::string path = (folder_ / name).string();
    const auto file = MappedFile::open(path);
    EXPECT_EQ(kind == "model" ? model_text(parse_onnx_model(file->bytes(), path), path)
                              : tensor_text(parse_onnx_tensor(file->bytes(), path), path, ' '),
              expected);
  }
  EXPECT_GE(count, 700);
}

}  // namespace
}  // namespace ingot
