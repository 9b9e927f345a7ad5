// What an application may destroy, and when: after a build everything that took part in it.
#include <gtest/gtest.h>

#include <filesystem>

#include "ingot/builder.h"
#include "ingot/import.h"
#include "ingot/runtime.h"
#include "support/onnx_model.h"
#include "support/quiet_logger.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

// relu(x + {1, -2, 0}), by hand.
void expect_result(Context& context) {
  const Tensor y = context.run({{"x", Tensor::of<float>({1, 3}, {1, 1, -1})}}).at("y").tensor();
  EXPECT_TRUE(y.identical(Tensor::of<float>({1, 3}, {2, 0, 0})));
}

TEST(Lifetimes, EngineBytesNeedNothingOfTheBuild) {
  TempFolder folder;
  std::vector<std::byte> bytes;
  {
    const std::string model = folder.write("model.onnx", onnx_model::small_model());
    const Graph graph = import_onnx(model);
    const BuilderConfig config;
    bytes = build_engine(graph, config);
    std::filesystem::remove(model);
  }
  auto engine = Runtime(quiet_logger()).open(bytes, nullptr, "in memory");
  expect_result(*engine->create_context());
}

TEST(Lifetimes, AnOpenedEngineNeedsNeitherBytesNorBuildNorRuntime) {
  std::shared_ptr<const Engine> engine;
  {
    const std::string model = onnx_model::small_model();
    const auto* begin = reinterpret_cast<const std::byte*>(model.data());
    const std::vector<std::byte> bytes = build_engine(import_onnx({begin, model.size()}, nullptr, "model"));
    engine = Runtime(quiet_logger()).open(bytes, nullptr, "in memory");
  }
  expect_result(*engine->create_context());
}

}  // namespace
}  // namespace ingot
