// The program on a small model built here: what it prints, what it leaves behind, what it returns.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ingot/validity.h"
#include "support/onnx_model.h"
#include "support/peak_memory.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "tensor_io/npy.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Cli : public testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), INGOT_PROGRAM);
    return run_program(words);
  }
  std::string file(std::string_view name) const { return folder_.file(name); }

  // The small model of onnx_model.h as an engine.
  std::string small_engine(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"compile", folder_.write("small.onnx", onnx_model::small_model()), "-q",
                                      "-o", file("small.ingot")};
    words.insert(words.end(), options.begin(), options.end());
    const ProgramResult r = run(words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.err + r.out, "");
    return file("small.ingot");
  }

  Tensor read_npy(const std::string& path) const {
    const std::string bytes = read_file(path);
    auto owner = std::make_shared<std::string>(bytes);
    return parse_npy(std::as_bytes(std::span(owner->data(), owner->size())), owner, path);
  }

  TempFolder folder_;
};

void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

TEST_F(Cli, CompilesAndDescribes) {
  const std::string model = folder_.write("small.onnx", onnx_model::small_model());
  const ProgramResult r = run({"compile", model, "-o", file("a.ingot")});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  expect_contains(r.out, "a.ingot: ");
  for (const char* phase : {"import: ", "passes: ", "write: ", "build: "}) expect_contains(r.err, phase);
  const ProgramResult j = run({"compile", model, "-o", file("b.ingot"), "--json", "-q", "--threads", "1"});
  const Json report = Json::parse(j.out);
  EXPECT_EQ(report["file_bytes"], fs::file_size(file("b.ingot")));
  EXPECT_EQ(report["nodes_after"], 4);
  EXPECT_EQ(report["digest"].get<std::string>().size(), 64u);
  EXPECT_EQ(j.err, "");
  EXPECT_TRUE(read_file(file("a.ingot")) == read_file(file("b.ingot")));
}

// A product with a weight of so many megabytes.
std::string model_of(int64_t megabytes) {
  using namespace onnx_model;
  const int64_t columns = megabytes * 256;
  std::string bytes(static_cast<size_t>(megabytes) << 20, '\0');
  for (size_t i = 0; i < bytes.size(); i += 4) bytes[i] = static_cast<char>(i * 7 + i / 4096);
  return model(node("MatMul", {"x", "w"}, {"y"}) +
               initializer(tensor("w", f32, {1024, columns}, raw(bytes))) + input("x", f32, {"n", "1024"}) +
               output("y", f32, {"n", std::to_string(columns)}));
}

TEST_F(Cli, MonitorsMemoryWhichStaysBelowOnePointTwoTimesTheWeights) {
  constexpr int64_t kMegabytes = 64;
  auto compile = [&](const std::string& name, const std::string& model) {
    const ProgramResult r =
        run({"compile", folder_.write(name, model), "-o", file("a.ingot"), "--json", "--monitor-memory"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    for (const char* phase : {"import", "passes", "write", "build"}) {
      expect_contains(r.err, std::string(" s  ") + phase + ": ");
      expect_contains(r.err, "peak ");
    }
    return Json::parse(r.out)["peak_memory_bytes"].get<int64_t>();
  };
  const int64_t of_program = compile("small.onnx", onnx_model::small_model());
  const int64_t peak = compile("large.onnx", model_of(kMegabytes)) - of_program;
  if (kMemoryIsSanitized) GTEST_SKIP();
  EXPECT_LT(static_cast<double>(peak), 1.2 * static_cast<double>(kMegabytes << 20));
}

TEST_F(Cli, NamesTheEngineAfterTheModelByDefault) {
  const std::string model = folder_.write("small.onnx", onnx_model::small_model());
  const ProgramResult r =
      run_program({INGOT_PROGRAM, "compile", model, "-q"}, [&] { fs::current_path(folder_.path()); });
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(fs::exists(file("small.ingot")));
}

TEST_F(Cli, ValidityAndVerifyTellSoundFromDamaged) {
  const std::string engine = small_engine();
  EXPECT_EQ(run({"validity", engine}).exit_code, 0);
  const Json valid = Json::parse(run({"validity", engine, "--json"}).out);
  EXPECT_EQ(valid["status"], "valid");
  EXPECT_EQ(valid["file_bytes"], fs::file_size(engine));
  const Json sound = Json::parse(run({"verify", engine, "--json"}).out);
  EXPECT_EQ(sound["sound"], true);

  std::string bytes = read_file(engine);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const std::string damaged = folder_.write("damaged.ingot", bytes);
  EXPECT_EQ(run({"validity", damaged}).exit_code, 0);  // the header is as it was
  const ProgramResult r = run({"verify", damaged});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.out, "");
  expect_contains(r.err, "damaged.ingot");

  bytes.resize(bytes.size() - 1);
  const ProgramResult shorter = run({"validity", folder_.write("short.ingot", bytes), "--json"});
  EXPECT_EQ(shorter.exit_code, 1);
  EXPECT_EQ(Json::parse(shorter.out)["status"], "invalid");
}

TEST_F(Cli, ValidityTellsOfACompilerThatIsMissingOrOfAnotherBuild) {
  const std::string engine = small_engine();
  auto reason_with = [&](const std::string& library) {
    const ProgramResult r = run_program({INGOT_PROGRAM, "validity", engine, "--json"},
                                        [&] { setenv("INGOT_JIT_LIBRARY", library.c_str(), 1); });
    EXPECT_EQ(r.exit_code, 0) << r.err;  // kernels of the cache run without it
    const Json json = Json::parse(r.out);
    EXPECT_EQ(json["status"], "suboptimal");
    expect_contains(json["findings"][0]["text"].get<std::string>(), library);
    return static_cast<EngineReason>(json["reasons"].get<uint32_t>());
  };
  EXPECT_EQ(reason_with(file("none.so")), EngineReason::installation_error);
  EXPECT_EQ(reason_with(folder_.write("other.so", "of another build")), EngineReason::library_too_old);
}

TEST_F(Cli, InspectsEnginesAndModels) {
  const std::string engine = small_engine();
  for (const std::string& path : {engine, file("small.onnx")}) {
    expect_contains(run({"inspect", path}).out, "relu(%");
    const Json json = Json::parse(run({"inspect", path, "--json"}).out);
    EXPECT_EQ(json["kind"], path == engine ? "engine" : "onnx");
    EXPECT_EQ(json["parameters"], 3);
    EXPECT_EQ(json["flops"], "6*n");
    EXPECT_EQ(json["graph"]["inputs"][0]["type"], "f32[n, 3]");
    EXPECT_EQ(json["graph"]["nodes"].size(), json["nodes"]);
    expect_contains(run({"inspect", path, "--summary"}).out, "output y: f32[n, 3]");
  }
  const ProgramResult drawn = run({"inspect", engine, "--svg", file("graph.svg")});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(read_file(file("graph.svg")).starts_with("<svg "));
}

TEST_F(Cli, ExecComputesWhatTheModelMeans) {
  const std::string engine = small_engine();
  write_npy(Tensor::of<float>({2, 3}, {1, 1, 1, -3, 5, 0.5}), file("x.npy"));
  const ProgramResult r =
      run({"exec", engine, "--input", "x=" + file("x.npy"), "--output", file("out"), "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const Tensor y = read_npy(file("out/y.npy"));
  EXPECT_TRUE(y.identical(Tensor::of<float>({2, 3}, {2, 0, 1, 0, 3, 0.5})));
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["outputs"][0]["value"]["shape"], Json({2, 3}));
  EXPECT_EQ(json["outputs"][0]["files"][0], file("out/y.npy"));
  // printf '\0\0\0\100\0\0\0\0\0\0\200\77\0\0\0\0\0\0\100\100\0\0\0\77' | sha256sum
  EXPECT_EQ(json["outputs"][0]["sha256"], "bb3cdde3504f9d6e3586ac4a7d3b3bff40dca90c2b15babb93a99478c6c77890");
}

TEST_F(Cli, RandomInputsDependOnTheSeedOnly) {
  const std::string engine = small_engine();
  const auto digest = [&](const char* seed) {
    const ProgramResult r = run({"exec", engine, "--random-seed", seed, "--dim", "n=20", "--json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return Json::parse(r.out)["outputs"][0]["sha256"].get<std::string>();
  };
  EXPECT_EQ(digest("1"), digest("1"));
  EXPECT_NE(digest("1"), digest("2"));
}

TEST_F(Cli, ExecSaysWhichInputsAreMissingOrWrong) {
  const std::string engine = small_engine();
  ProgramResult r = run({"exec", engine});
  EXPECT_EQ(r.exit_code, 1);
  expect_contains(r.err, "none for 'x' f32[n, 3]");
  expect_contains(r.err, "--random-seed");
  r = run({"exec", engine, "--random-seed", "1"});
  EXPECT_EQ(r.exit_code, 1);
  expect_contains(r.err, "--dim");
  r = run({"exec", engine, "--input", "z=" + file("x.npy")});
  EXPECT_EQ(r.exit_code, 1);
  expect_contains(r.err, "'z'");
  write_npy(Tensor::of<double>({1, 3}, {1, 2, 3}), file("f64.npy"));
  r = run({"exec", engine, "--input", "x=" + file("f64.npy")});
  EXPECT_EQ(r.exit_code, 1);
  expect_contains(r.err, "f64");
  expect_contains(r.err, "f32");
}

TEST_F(Cli, ProfilesLimitShapes) {
  const std::string engine = small_engine({"--dim", "n=1:2:4@few", "--dim", "n=8:8:9@many"});
  const Json json = Json::parse(run({"inspect", engine, "--json", "--summary"}).out);
  EXPECT_EQ(json["profiles"][0]["name"], "few");
  EXPECT_EQ(json["profiles"][1]["dims"]["n"]["max"], 9);
  const auto exec = [&](const std::string& dim) {
    return run({"exec", engine, "--random-seed", "1", "--dim", dim});
  };
  EXPECT_EQ(exec("n=4").exit_code, 0);
  EXPECT_EQ(exec("n=9").exit_code, 0);
  EXPECT_EQ(exec("n=5").exit_code, 1);
  EXPECT_EQ(exec("n=10").exit_code, 1);
}

TEST_F(Cli, ImportReportListsOps) {
  const std::string model = folder_.write("small.onnx", onnx_model::small_model());
  const Json json = Json::parse(run({"import-report", model, "--json"}).out);
  EXPECT_EQ(json["imports"], true);
  EXPECT_EQ(json["ops"].size(), 2u);
  EXPECT_EQ(json["flops"], "6*n");
  const std::string odd =
      folder_.write("odd.onnx", onnx_model::model(onnx_model::node("Warp", {"x"}, {"y"}) +
                                                  onnx_model::node("Weft", {"y"}, {"z"}) +
                                                  onnx_model::input("x", onnx_model::f32, {"2"}) +
                                                  onnx_model::output("z", onnx_model::f32, {"2"})));
  const ProgramResult r = run({"import-report", odd, "--json"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(Json::parse(r.out)["unsupported"], Json({"Warp", "Weft"}));
}

TEST_F(Cli, PassesCanBeWatchedAndSwitchedOff) {
  const std::string model = folder_.write("small.onnx", onnx_model::small_model());
  ProgramResult r =
      run({"compile", model, "-q", "-o", file("a.ingot"), "--print-after", "all", "--verify-each"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  expect_contains(r.err, "// after fold_constants\ngraph \"main\"");
  r = run({"compile", model, "-q", "-o", file("a.ingot"), "--print-after", "all", "--disable-pass",
           "fold_constants"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err.find("// after fold_constants"), std::string::npos);
  r = run({"compile", model, "--disable-pass", "no_such"});
  EXPECT_EQ(r.exit_code, 2);
  expect_contains(r.err, "there is no pass 'no_such'; there are ");
  r = run({"compile", model, "--disable-pass", "order_nodes"});
  EXPECT_EQ(r.exit_code, 2);
  expect_contains(r.err, "the pass 'order_nodes' always runs");
}

TEST_F(Cli, StrippedEnginesAreForLookingOnly) {
  const std::string weights(4 * 300, 'a');
  using namespace onnx_model;
  const std::string model =
      folder_.write("big.onnx", onnx_model::model(node("Add", {"x", "w"}, {"y"}) +
                                                  initializer(tensor("w", f32, {300}, raw(weights))) +
                                                  input("x", f32, {"300"}) + output("y", f32, {"300"})));
  ASSERT_EQ(run({"compile", model, "-q", "--strip-weights", "-o", file("big.ingot")}).exit_code, 0);
  const ProgramResult validity = run({"validity", file("big.ingot"), "--json"});
  EXPECT_EQ(validity.exit_code, 0);
  EXPECT_EQ(Json::parse(validity.out)["status"], "suboptimal");
  const Json json = Json::parse(run({"inspect", file("big.ingot"), "--json"}).out);
  EXPECT_EQ(json["missing_weights"][0]["bytes"], 1200);
  EXPECT_EQ(run({"exec", file("big.ingot"), "--random-seed", "1"}).exit_code, 1);
}

// Enough weights that the build is still busy when the signal arrives.
TEST_F(Cli, CtrlCLeavesNothingBehind) {
  using namespace onnx_model;
  std::string graph = input("x", f32, {"1000000"}) + output("y30", f32, {"1000000"});
  for (int i = 0; i < 30; ++i) {
    graph += node("Add", {i == 0 ? "x" : fmt::format("y{}", i), fmt::format("w{}", i)},
                  {fmt::format("y{}", i + 1)});
    graph += initializer(
        tensor(fmt::format("w{}", i), f32, {1000000}, raw(std::string(4000000, static_cast<char>(i)))));
  }
  folder_.write("big.onnx", model(graph));
  const ProgramResult r =
      run_program_and({INGOT_PROGRAM, "compile", file("big.onnx"), "-o", file("big.ingot")},
                      [](int pid) { kill(pid, SIGINT); });
  EXPECT_EQ(r.exit_code, 130) << r.err;
  expect_contains(r.err, "cancelled");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(Cli, WrongUsageReturnsTwoAndSaysWhereHelpIs) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"nonsense"}, "nonsense"},
      {{"compile"}, "MODEL"},
      {{"compile", "a.onnx", "--no-such-option"}, "--no-such-option"},
      {{"compile", "a.onnx", "--dim", "n=1:2"}, "'n=1:2'"},
      {{"compile", "a.onnx", "--memory-limit", "much"}, "'much'"},
      {{"compile", "a.onnx", "--shape", "x=1xy"}, "'y'"},
      {{"exec", "a.ingot", "--runs", "0"}, "--runs"},
      {{"exec", "a.ingot", "--log-level", "loud"}, "loud"},
      {{"bench"}, "ENGINE"},
      {{"bench", "a.ingot", "--onnx", "a.onnx"}, "both"},
      {{"bench", "a.ingot", "--loadEngine", "b.ingot"}, "both"},
      {{"bench", "a.ingot", "--opt-shapes", "x:1x3"}, "--onnx"},
      {{"bench", "a.ingot", "--percentile", "90,101"}, "'90,101'"},
      {{"bench", "--onnx", "a.onnx", "--min-shapes", "x:1x3"}, "--opt-shapes"},
      {{"help", "nonsense"}, "nonsense"},
  };
  for (const auto& [words, part] : cases) {
    const ProgramResult r = run(words);
    SCOPED_TRACE(fmt::format("{}\n{}", fmt::join(words, " "), r.err));
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_EQ(r.out, "");
    expect_contains(r.err, part);
    expect_contains(r.err, "See 'ingot help");
  }
  EXPECT_EQ(run({}).exit_code, 2);
}

TEST_F(Cli, EveryCommandHasAManualPage) {
  const std::string overview = run({"--help"}).out;
  for (const char* name : {"compile", "refit", "exec", "bench", "inspect", "verify", "validity",
                           "import-report", "kernel-cache", "version"}) {
    SCOPED_TRACE(name);
    expect_contains(overview, fmt::format("\n  {} ", name));
    const ProgramResult page = run({"help", name});
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_EQ(run({name, "--help"}).out, page.out);
    for (const char* part :
         {"NAME\n", "SYNOPSIS\n", "DESCRIPTION\n", "OPTIONS\n", "EXAMPLE\n    ingot ", "EXIT STATUS\n"})
      expect_contains(page.out, part);
    size_t longest = 0;
    std::istringstream lines(page.out);
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_LE(longest, 100u);
  }
}

TEST_F(Cli, CompletionIsAScriptThatBashAccepts) {
  const ProgramResult r = run({"completion", "bash"});
  folder_.write("completion.bash", r.out);
  const std::string script =
      "source " + file("completion.bash") +
      "; COMP_WORDS=(ingot exec --ran); COMP_CWORD=2; _ingot; echo \"${COMPREPLY[*]}\"";
  const ProgramResult completed = run_program({"/bin/bash", "-c", script});
  EXPECT_EQ(completed.out, "--random-seed\n") << completed.err;
}

TEST_F(Cli, VersionIsJsonOnRequest) {
  const Json json = Json::parse(run({"version", "--json"}).out);
  EXPECT_EQ(json["devices"], (Json{"cpu", "reference"}));
  EXPECT_GE(json["engine_format"], 1);
}

// A full disk behind a redirection.
TEST_F(Cli, FailsWhenStandardOutputCannotBeWritten) {
  const std::string command = std::string(INGOT_PROGRAM) + " version > /dev/full";
  const ProgramResult r = run_program({"/bin/bash", "-c", command});
  EXPECT_EQ(r.exit_code, 1);
  expect_contains(r.err, "standard output: cannot write");
}

}  // namespace
}  // namespace ingot
