// `ingot refit` and what `ingot compile` does for it, on a model of which results are known by hand.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/onnx_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "tensor_io/npy.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

// y = x * kernel + bias over f32[1, 16]; each of the 16 * 32 and 32 weights is as given.
std::string dense_model(float kernel, float bias) {
  using namespace onnx_model;
  auto numbers = [](size_t count, float value) {
    const std::vector<float> values(count, value);
    return std::string(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
  };
  return model(node("MatMul", {"x", "kernel"}, {"p"}) + node("Add", {"p", "bias"}, {"y"}) +
               initializer(tensor("kernel", f32, {16, 32}, raw(numbers(512, kernel)))) +
               initializer(tensor("bias", f32, {32}, raw(numbers(32, bias)))) + input("x", f32, {"1", "16"}) +
               output("y", f32, {"1", "32"}));
}

class CliRefit : public testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), INGOT_PROGRAM);
    return run_program(words);
  }
  void succeed(const std::vector<std::string>& words) const {
    const ProgramResult r = run(words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.err, "");
  }
  std::string file(std::string_view name) const { return folder_.file(name); }
  std::string model(float kernel, float bias) const {
    return folder_.write(fmt::format("{}_{}.onnx", kernel, bias), dense_model(kernel, bias));
  }
  std::string compiled(float kernel, float bias, const std::vector<std::string>& options) {
    const std::string path = file(fmt::format("engine{}.ingot", ++engines_));
    std::vector<std::string> words = {"compile", model(kernel, bias), "-q", "-o", path};
    words.insert(words.end(), options.begin(), options.end());
    succeed(words);
    return path;
  }
  // Every element of y for x = 1.
  void expect_result(const std::string& engine, float y) const {
    Tensor x = Tensor::allocate(DType::f32, {1, 16});
    std::ranges::fill(x.mutable_data<float>(), 1.0f);
    write_npy(x, file("x.npy"));
    const ProgramResult r = run({"exec", engine, "--input", "x=" + file("x.npy"), "--output", file("out")});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const std::string bytes = read_file(file("out/y.npy"));
    const Tensor result = parse_npy(std::as_bytes(std::span(bytes)), nullptr, "y.npy");
    for (const float value : result.data<float>()) ASSERT_EQ(value, y);
  }

  TempFolder folder_;
  int engines_ = 0;
};

TEST_F(CliRefit, GivesTheBytesOfACompiledModelOfTheNewWeights) {
  const std::string engine = compiled(1, 2, {"--refit"});
  expect_result(engine, 18);
  succeed({"refit", engine, "--from", model(0.5, 3), "-q", "-o", file("new.ingot")});
  expect_result(file("new.ingot"), 11);
  EXPECT_TRUE(read_file(file("new.ingot")) == read_file(compiled(0.5, 3, {"--refit"})));
  expect_result(engine, 18);
}

TEST_F(CliRefit, TakesWeightsOfAnotherEngine) {
  const std::string other = compiled(0.25, 1, {});
  succeed({"refit", compiled(1, 2, {"--refit"}), "--from", other, "-q", "-o", file("new.ingot")});
  expect_result(file("new.ingot"), 5);
}

TEST_F(CliRefit, FillsAStrippedEngine) {
  for (const char* strip : {"--strip-weights", "--stripWeights"}) {
    const std::string stripped = compiled(1, 2, {strip});
    EXPECT_EQ(run({"exec", stripped, "--random-seed", "1"}).exit_code, 1);
    succeed({"refit", stripped, "--from", model(1, 2), "-q", "-o", file("full.ingot")});
    EXPECT_TRUE(read_file(file("full.ingot")) == read_file(compiled(1, 2, {})));
  }
}

TEST_F(CliRefit, StripsAnEngineThatWasCompiled) {
  const std::string engine = compiled(1, 2, {"--refit"});
  succeed({"refit", engine, "--strip-weights", "-q", "-o", file("stripped.ingot")});
  EXPECT_TRUE(read_file(file("stripped.ingot")) == read_file(compiled(1, 2, {"--refit", "--strip-weights"})));
}

TEST_F(CliRefit, SetsSingleWeights) {
  const std::string engine = compiled(1, 2, {"--refit-weight", "bias"});
  const Json weights = Json::parse(run({"refit", engine, "--list", "--json"}).out)["weights"];
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights[0]["name"], "bias");
  EXPECT_EQ(weights[0]["type"], "f32[32]");
  Tensor bias = Tensor::allocate(DType::f32, {32});
  std::ranges::fill(bias.mutable_data<float>(), -6.0f);
  write_npy(bias, file("bias.npy"));
  succeed({"refit", engine, "--set", "bias=" + file("bias.npy"), "-q", "-o", engine});
  expect_result(engine, 10);
}

TEST_F(CliRefit, WrongUsageIsTold) {
  const std::string engine = compiled(1, 2, {"--refit"});
  EXPECT_EQ(run({"refit", engine}).exit_code, 2);
  EXPECT_EQ(run({"refit", engine, "--list", "-o", file("a.ingot")}).exit_code, 2);
  EXPECT_EQ(run({"compile", model(1, 2), "--refit", "--refit-mode", "identical"}).exit_code, 2);
  EXPECT_EQ(run({"compile", model(1, 2), "--refit-mode", "none", "--refit-weight", "bias"}).exit_code, 2);
}

}  // namespace
}  // namespace ingot
