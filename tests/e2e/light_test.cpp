#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "import/onnx/model_context.h"
#include "support/test_data.h"
#include "tests/conformance/compare.h"
#include "tests/e2e/model_run.h"

// The whole networks of the ONNX test data. Their weights are constants, so that the files stay small; the
// input is the one the expected outputs were made with: 0, 1/n, 2/n ...
namespace ingot {
namespace {

class LightTest : public ::testing::TestWithParam<std::tuple<const char*, std::string>> {};

TEST_P(LightTest, EqualsTheExpectedOutput) {
  const auto& [network, device] = GetParam();
  INGOT_MODEL_OR_SKIP(model, std::string("onnx-1.22.0/light/light_") + network + ".onnx");
  auto engine = build_and_open(model, device);
  Shape shape;
  for (const Dim& d : *engine->inputs().at(0).type.dims) shape.push_back(d.constant());
  std::vector<float> ramp(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < ramp.size(); ++i)
    ramp[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(ramp.size()));
  auto outputs = engine->create_context()->run({{engine->inputs()[0].name, Tensor::of<float>(shape, ramp)}});

  const std::string expected_path = model.substr(0, model.size() - 5) + "_output_0.pb";
  auto file = MappedFile::open(expected_path);
  Tensor expected =
      tensor_from_onnx(parse_onnx_tensor(file->bytes(), expected_path), {expected_path, file, nullptr});
  EXPECT_EQ(conformance::difference(expected.aligned(), outputs.begin()->second, {1e-3, 1e-5}), "");
}

INSTANTIATE_TEST_SUITE_P(
    Networks, LightTest,
    ::testing::Combine(::testing::Values("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2",
                                         "resnet50", "shufflenet", "squeezenet", "vgg19", "zfnet512"),
                       ::testing::ValuesIn(device_level_names())),
    [](const auto& info) { return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace ingot
