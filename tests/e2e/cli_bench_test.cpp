// `ingot bench` on a small model built here.
#include <nlohmann/json.hpp>

#include "support/onnx_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "tensor_io/npy.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

class CliBench : public testing::Test {
 protected:
  // Short runs of the model, which has one input x: f32[n, 3].
  ProgramResult bench(std::vector<std::string> words, const std::function<void()>& in_child = {}) const {
    words.insert(words.begin(), {INGOT_PROGRAM, "bench", "--duration", "0", "--warm-up", "0"});
    return run_program(words, in_child);
  }
  Json bench_json(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const ProgramResult r = bench(words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return Json::parse(r.out, nullptr, false);
  }

  TempFolder folder_;
  std::string model_ = folder_.write("small.onnx", onnx_model::small_model());
};

bool ends_with_line(const std::string& text, std::string_view line) {
  return text.ends_with(fmt::format("\n{}\n", line)) || text == fmt::format("{}\n", line);
}

TEST_F(CliBench, ReportsThePhasesAndTheDistribution) {
  const Json json = bench_json({"--onnx", model_, "--shapes", "x:2x3", "--iterations", "20"});
  for (const char* phase : {"import", "build", "load", "first_run"})
    EXPECT_GT(json[phase].get<double>(), 0) << phase;
  EXPECT_LE(json["compile"], json["load"]);
  const Json& steady = json["steady"];
  EXPECT_EQ(steady["runs"], 20);
  double last = 0;
  for (const char* key : {"min", "p50", "p90", "p95", "p99", "max"}) {
    EXPECT_GE(steady[key].get<double>(), last) << key;
    last = steady[key];
  }
  // One stream is never busier than all the time.
  EXPECT_LE(steady["throughput"].get<double>() * steady["mean"].get<double>(), 1.001);
  EXPECT_GT(json["peak_memory_bytes"], 1000000);
  EXPECT_EQ(json["passed"], true);
}

TEST_F(CliBench, TextEndsWithPassed) {
  const ProgramResult r =
      bench({"--onnx", model_, "--shapes", "x:2x3", "--avg-runs", "5", "--percentile", "50,99.5"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  for (const char* part :
       {"import ", "build ", "first run ", "p50 ", "p99.5 ", "average of 5 runs: ", "peak memory "})
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
  EXPECT_TRUE(ends_with_line(r.out, "PASSED")) << r.out;
}

TEST_F(CliBench, TextEndsWithFailedOnErrors) {
  const std::vector<std::vector<std::string>> cases = {
      {folder_.file("absent.ingot")},
      {"--onnx", folder_.write("broken.onnx", "no model")},
      {"--onnx", model_},                       // the size n is open
      {"--onnx", model_, "--shapes", "x:2x4"},  // x has three columns
      {"--onnx", model_, "--shapes", "y:2x3"},  // there is no input y
      {"--onnx", model_, "--load-inputs", "x:absent.npy"},
      {"--onnx", model_, "--shapes", "x:2x3", "--export-times", folder_.file("no/such/folder.json")},
  };
  for (const auto& words : cases) {
    const ProgramResult r = bench(words);
    SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_TRUE(ends_with_line(r.out, "FAILED")) << r.out;
    EXPECT_NE(r.err, "");
  }
}

TEST_F(CliBench, SavedEngineComputesTheSame) {
  write_npy(Tensor::of<float>({2, 3}, {1, 1, 1, -3, 5, 0.5}), folder_.file("x.npy"));
  const std::string inputs = "x:" + folder_.file("x.npy");
  const Json built =
      bench_json({"--onnx", model_, "--saveEngine=" + folder_.file("kept.ingot"), "--loadInputs", inputs});
  const Json loaded = bench_json({"--loadEngine", folder_.file("kept.ingot"), "--load-inputs", inputs});
  EXPECT_FALSE(loaded.contains("build"));
  EXPECT_EQ(loaded["outputs"][0]["sha256"], built["outputs"][0]["sha256"]);
  EXPECT_EQ(loaded["inputs"][0]["source"], folder_.file("x.npy"));
}

TEST_F(CliBench, ShapesOfAProfileLimitTheEngine) {
  const std::string engine = folder_.file("limited.ingot");
  const Json json = bench_json({"--onnx", model_, "--minShapes", "x:1x3", "--optShapes", "x:4x3",
                                "--maxShapes", "x:6x3", "--save-engine", engine});
  EXPECT_EQ(json["inputs"][0]["value"]["shape"], (std::vector<int>{4, 3}));
  EXPECT_EQ(bench_json({engine, "--shapes", "x:6x3"})["outputs"][0]["value"]["shape"][0], 6);
  EXPECT_EQ(bench({engine, "--shapes", "x:7x3"}).exit_code, 1);
}

TEST_F(CliBench, StreamsShareTheIterationsAndExportTheirTimes) {
  const std::string times = folder_.file("times.json");
  const Json json = bench_json({"--onnx", model_, "--shapes", "x:2x3", "--inf-streams", "3", "--iterations",
                                "300", "--exportTimes", times});
  EXPECT_EQ(json["streams"], 3);
  EXPECT_EQ(json["steady"]["runs"], 300);
  const Json samples = Json::parse(read_file(times));
  ASSERT_EQ(samples.size(), 300u);
  double longest = 0;
  for (const Json& sample : samples) longest = std::max(longest, sample["seconds"].get<double>());
  EXPECT_EQ(longest, json["steady"]["max"]);
}

TEST_F(CliBench, ProfileTimesTheStepsOfTheFastDevice) {
  const std::string profile = folder_.file("profile.json");
  const std::vector<std::string> words = {"--onnx", model_, "--shapes", "x:2x3", "--device", "cpu"};
  std::vector<std::string> exporting = words;
  exporting.insert(exporting.end(), {"--exportProfile", profile, "--iterations", "7"});
  const Json json = bench_json(exporting);
  EXPECT_GT(json["program"]["kernels"], 0);
  EXPECT_EQ(Json::parse(read_file(profile))["inferences"], 7);
  const Json steps = Json::parse(read_file(profile))["steps"];
  ASSERT_FALSE(steps.empty());
  double sum = 0;
  for (const Json& step : steps) {
    EXPECT_EQ(step["runs"], 7);
    sum += step["seconds"].get<double>();
  }
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, json["steady"]["mean"].get<double>() * 7);

  std::vector<std::string> printing = words;
  printing.insert(printing.end(), {"--dumpProfile", "--dump-layer-info"});
  const ProgramResult r = bench(printing);
  for (const char* part : {"steps, in the order", "profile of ", "kernels "})
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
}

TEST_F(CliBench, ComparisonSaysWhatItLacks) {
  const std::vector<std::string> words = {"--onnx", model_, "--shapes", "x:2x3", "--compare-onnxruntime"};
  // A Python that runs and has no such package, and none at all.
  const std::string without =
      folder_.write("python", "#!/bin/sh\necho '{\"missing\": \"No module named onnxruntime\"}'\n");
  EXPECT_EQ(chmod(without.c_str(), 0755), 0);
  for (const std::string& python : {without, folder_.file("absent")}) {
    const ProgramResult r = bench(words, [&] { setenv("INGOT_PYTHON", python.c_str(), 1); });
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_NE(r.err.find("pip install onnxruntime"), std::string::npos) << r.err;
    EXPECT_TRUE(ends_with_line(r.out, "FAILED"));
  }
}

TEST_F(CliBench, ComparesWithOnnxRuntime) {
  const char* python = std::getenv("INGOT_PYTHON");
  const std::string program = python ? python : "python3";
  if (run_program({"/bin/sh", "-c", program + " -c 'import onnxruntime'"}).exit_code != 0)
    GTEST_SKIP() << program << " has no onnxruntime";
  const Json json = bench_json({"--onnx", model_, "--shapes", "x:2x3", "--iterations", "30", "--threads", "1",
                                "--compare-onnxruntime"});
  const Json& peer = json["onnxruntime"];
  EXPECT_GE(peer["steady"]["runs"], 30);
  EXPECT_GT(peer["ratio"], 0);
  EXPECT_LT(peer["relative_error"], 1e-6);
}

}  // namespace
}  // namespace ingot
