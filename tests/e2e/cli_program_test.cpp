// Programs made visible: `exec --profile` and `--trace`, `inspect --program` and `--dump-kernel`.
#include <nlohmann/json.hpp>

#include "support/onnx_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

class CliProgram : public testing::Test {
 protected:
  static ProgramResult ingot(std::vector<std::string> words) {
    words.insert(words.begin(), INGOT_PROGRAM);
    return run_program(words);
  }
  static Json json_of(std::vector<std::string> words) {
    words.emplace_back("--json");
    const ProgramResult r = ingot(std::move(words));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return Json::parse(r.out, nullptr, false);
  }
  // y[37, 48] = relu(a[37, 20] x b[20, 48]), built.
  std::string engine() const {
    using namespace onnx_model;
    const std::string graph = node("MatMul", {"a", "b"}, {"c"}, {}, "product") +
                              node("Relu", {"c"}, {"y"}, {}, "activation") + input("a", f32, {"37", "20"}) +
                              input("b", f32, {"20", "48"}) + output("y", f32, {"37", "48"});
    const std::string path = folder_.file("product.ingot");
    const ProgramResult r = ingot({"compile", folder_.write("product.onnx", model(graph)), "-o", path});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return path;
  }

  TempFolder folder_;
};

const Json* tile_of(const Json& steps) {
  for (const Json& step : steps)
    if (step["kind"] == "tile") return &step;
  return nullptr;
}

TEST_F(CliProgram, ProfileMeasuresTheRunsAfterTheFirst) {
  const Json json = json_of({"exec", engine(), "--random-seed", "1", "--runs", "6", "--profile"});
  const Json& profile = json["profile"];
  EXPECT_EQ(profile["inferences"], 5);
  const Json* tile = tile_of(profile["steps"]);
  ASSERT_NE(tile, nullptr) << profile;
  EXPECT_EQ((*tile)["runs"], 5);
  EXPECT_EQ((*tile)["flops"], 2 * 37 * 20 * 48);
  EXPECT_GT((*tile)["median_seconds"], 0);
  EXPECT_EQ((*tile)["writes"], (Json{"f32[37, 48]"}));
}

TEST_F(CliProgram, ProfileTableNamesEachStep) {
  const ProgramResult r = ingot({"exec", engine(), "--random-seed", "1", "--profile"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  for (const char* part : {"profile of 1 inferences", "GFLOP/s", "tile", "activation"})
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
}

TEST_F(CliProgram, ReferenceDeviceHasNoSteps) {
  const std::vector<std::string> words = {engine(), "--device", "reference", "--random-seed", "1"};
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"exec", "--profile"}, {"inspect", "--program"}}) {
    std::vector<std::string> all = command;
    all.insert(all.end(), words.begin(), words.end());
    const ProgramResult r = ingot(all);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_NE(r.out.find("no steps"), std::string::npos) << r.out;
  }
}

TEST_F(CliProgram, TraceShowsStepsOneAfterTheOther) {
  const std::string path = folder_.file("trace.json");
  const ProgramResult r =
      ingot({"exec", engine(), "--random-seed", "1", "--runs", "4", "--threads", "2", "--trace", path});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const Json trace = Json::parse(read_file(path));
  double end = 0;
  int products = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_LT(event["tid"], 2);
    if (event["tid"] != 0) continue;
    EXPECT_GE(event["ts"].get<double>(), end - 1e-6);
    end = event["ts"].get<double>() + event["dur"].get<double>();
    if (event["cat"] == "tile") ++products;
  }
  EXPECT_EQ(products, 3);
  EXPECT_EQ(ingot({"exec", engine(), "--random-seed", "1", "--trace", folder_.file("no/t.json")}).exit_code,
            1);
}

TEST_F(CliProgram, InspectShowsKernelsBesideThePeakOfTheMachine) {
  const Json json = json_of({"inspect", engine(), "--program"});
  EXPECT_GT(json["machine"]["flops_per_second"], 1e9);
  EXPECT_GT(json["machine"]["bytes_per_second"], 1e8);
  EXPECT_EQ(json["fallbacks"], Json::object());
  EXPECT_GE(json["kernels"], 1);
  const Json* tile = tile_of(json["steps"]);
  ASSERT_NE(tile, nullptr) << json;
  const double flops = 2.0 * 37 * 20 * 48;
  EXPECT_EQ(json["total"]["flops"], flops);
  const double compute = flops / json["machine"]["flops_per_second"].get<double>();
  const double memory = (*tile)["bytes"].get<double>() / json["machine"]["bytes_per_second"].get<double>();
  EXPECT_DOUBLE_EQ((*tile)["predicted_seconds"], std::max(compute, memory));
  ASSERT_FALSE((*tile)["kernels"].empty());
  EXPECT_NE((*tile)["kernels"][0]["text"].get<std::string>().find("tile"), std::string::npos);
  EXPECT_GT((*tile)["kernels"][0]["code_bytes"], 64);

  const ProgramResult text = ingot({"inspect", engine(), "--program"});
  for (const char* part :
       {"nothing runs on the reference device", "GB/s from memory", "of peak", "activation: tile"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
}

TEST_F(CliProgram, DumpKernelShowsLoopsAndCode) {
  const std::string path = engine();
  const ProgramResult r = ingot({"inspect", path, "--dump-kernel", "activation"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  for (const char* part : {"kernel ", "define void", "vfmadd", "vmaxps"})
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out.substr(0, 2000);
  const std::string key = r.out.substr(7, 16);
  EXPECT_EQ(ingot({"inspect", path, "--dump-kernel", key}).out.substr(7, 16), key);
  const ProgramResult none = ingot({"inspect", path, "--dump-kernel", "absent"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("activation"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace ingot
