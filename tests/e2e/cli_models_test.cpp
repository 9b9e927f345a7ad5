// The program on models of others: compile, verify and run them, and compare what the output files hold.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "import/onnx/model_context.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "tensor_io/npy.h"
#include "tensor_io/tensor_file.h"
#include "tests/conformance/compare.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class CliModels : public testing::Test {
 protected:
  // Empty when it failed, which the test then shows.
  Json run(std::vector<std::string> words) const {
    words.insert(words.begin(), INGOT_PROGRAM);
    const ProgramResult r = run_program(words);
    EXPECT_EQ(r.exit_code, 0) << words[1] << ": " << r.err;
    return r.exit_code == 0 && !r.out.empty() ? Json::parse(r.out) : Json();
  }

  std::string compile(const std::string& model) const {
    std::string engine = folder_.file("model.ingot");
    run({"compile", model, "-q", "-o", engine});
    EXPECT_EQ(run({"validity", engine, "--json"})["status"], "valid");
    EXPECT_EQ(run({"verify", engine, "--json"})["sound"], true);
    return engine;
  }

  Tensor read_npy(const std::string& path) const {
    auto file = MappedFile::open(path);
    return parse_npy(file->bytes(), file, path, wanted_);
  }

  TempFolder folder_;
  std::optional<DType> wanted_;  // of output files whose type NumPy lacks
};

// Runs a folder of conformance data through files: input_N.pb in, NAME.npy out, against output_N.pb.
class CliConformance : public CliModels, public testing::WithParamInterface<const char*> {};

TEST_P(CliConformance, FilesInFilesOut) {
  INGOT_MODEL_OR_SKIP(node_folder, "onnx-1.22.0/node");
  const fs::path test = fs::path(node_folder) / GetParam();
  const std::string model = (test / "model.onnx").string();
  const std::string engine = compile(model);
  const auto file = MappedFile::open(model);
  const OnnxModel onnx = parse_onnx_model(file->bytes(), model);
  std::vector<std::string> words = {"exec", engine, "--json", "--output", folder_.file("out")};
  for (size_t i = 0; i < onnx.graph.inputs.size(); ++i) {
    words.emplace_back("--input");
    words.push_back(
        fmt::format("{}={}/test_data_set_0/input_{}.pb", onnx.graph.inputs[i].name, test.string(), i));
  }
  const Json outputs = run(words)["outputs"];
  ASSERT_EQ(outputs.size(), onnx.graph.outputs.size());
  for (size_t i = 0; i < onnx.graph.outputs.size(); ++i) {
    GraphBuilder scratch;
    const Type type = type_from_onnx(onnx.graph.outputs[i].type, "output", scratch);
    const Datum expected =
        read_onnx_datum((test / fmt::format("test_data_set_0/output_{}.pb", i)).string(), type);
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const Json& o) { return o["name"] == onnx.graph.outputs[i].name; });
    ASSERT_NE(found, outputs.end());
    wanted_ = type.element_dtype();
    Sequence tensors;
    for (const std::string path : (*found)["files"]) tensors.push_back(read_npy(path));
    const Datum actual = type.kind == Type::Kind::tensor ? Datum(tensors.at(0)) : Datum(tensors);
    EXPECT_EQ(conformance::difference(expected, actual, {}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Node, CliConformance,
                         testing::Values("test_basic_conv_with_padding", "test_cast_FLOAT_to_BFLOAT16",
                                         "test_cast_FLOAT_to_INT4", "test_cast_FLOAT16_to_FLOAT8E4M3FN",
                                         "test_if", "test_matmul_3d", "test_split_equal_parts_1d_opset18"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(CliModels, MagikaGivesProbabilities) {
  INGOT_SHARED_MODEL_OR_SKIP(model, "magika/model.onnx");
  const std::string engine = compile(model);
  const std::vector<std::string> words = {"--random-seed", "1", "--json", "--shape", "bytes=2x2048"};
  std::vector<std::string> exec = {"exec", engine, "--output", folder_.file("out")};
  exec.insert(exec.end(), words.begin(), words.end());
  const Json json = run(exec);
  const Tensor scores = read_npy(folder_.file("out/target_label.npy"));
  ASSERT_EQ(scores.shape(), (Shape{2, 214}));
  double sum = 0;
  for (float score : scores.data<float>()) sum += score;
  EXPECT_NEAR(sum, 2, 1e-4);
  std::vector<std::string> bench = {"bench",      engine, "--iterations", "2",
                                    "--duration", "0",    "--warm-up",    "0"};
  bench.insert(bench.end(), words.begin(), words.end());
  EXPECT_EQ(run(bench)["outputs"][0]["sha256"], json["outputs"][0]["sha256"]);
  // 784519 elements are in its initializers; those that are indices are no parameters.
  const Json report = run({"import-report", model, "--json"});
  EXPECT_EQ(report["initializer_elements"], 784519);
  EXPECT_EQ(report["unsupported"], Json::array());
}

}  // namespace
}  // namespace ingot
