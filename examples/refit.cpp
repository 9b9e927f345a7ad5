// New weights for an engine that is open: set by name, taken all or not at all, without a new build; and an
// engine file without weights, which gets them on the machine where it runs.
#include <iostream>
#include <memory>
#include <vector>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "ingot/weights.h"

namespace {

constexpr int64_t kWidth = 32;

ingot::Tensor filled(const ingot::Shape& shape, float value) {
  ingot::Tensor tensor = ingot::Tensor::allocate(ingot::DType::f32, shape);
  for (float& element : tensor.mutable_data<float>()) element = value;
  return tensor;
}

// y = x * kernel + bias; the names are those that ONNX initializers would bring along.
ingot::Graph layer(float kernel, float bias) {
  ingot::GraphBuilder g("layer");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {1, kWidth}));
  g.set_origin("kernel");
  ingot::Value k = g.constant(filled({kWidth, kWidth}, kernel));
  g.set_origin("bias");
  ingot::Value b = g.constant(filled({kWidth}, bias));
  g.set_origin("");
  g.output("y", g.add(g.matmul(x, k), b));
  return std::move(g).finish();
}

// The first element of y for x = 1.
float run(ingot::Context& context) {
  const auto outputs = context.run({{"x", filled({1, kWidth}, 1)}});
  return outputs.at("y").tensor().data<float>()[0];
}

void replace_weights(const ingot::Runtime& runtime) {
  ingot::BuilderConfig config;
  config.refit = ingot::RefitMode::whole;
  const auto engine = runtime.open(ingot::build_engine(layer(1, 0.5f), config), nullptr, "layer");
  const auto context = engine->create_context();
  std::cout << "as built: " << run(*context) << "\n";

  ingot::Refitter refitter(engine);
  refitter.set("bias", filled({kWidth}, 8));
  refitter.set("kernel", filled({kWidth, 1}, 2));  // of a wrong shape
  try {
    refitter.commit();
  } catch (const ingot::Error& e) {
    std::cout << "refused: " << e.parts().observed << "\n";
  }
  std::cout << "as before: " << run(*context) << "\n";

  refitter.set("kernel", filled({kWidth, kWidth}, 2));
  refitter.commit();
  std::cout << "with new weights: " << run(*context) << "\n";
}

void ship_without_weights(const ingot::Runtime& runtime) {
  ingot::BuilderConfig config;
  config.strip_weights = true;
  const auto stripped = ingot::build_engine(layer(3, 0), config);
  const auto engine = runtime.open(stripped, nullptr, "stripped layer");
  ingot::Refitter refitter(engine);
  for (const std::string& name : refitter.missing()) std::cout << "missing: " << name << "\n";
  refitter.set_from(layer(3, 0));  // or set_from_engine(), or single weights
  refitter.commit();
  std::cout << "filled: " << run(*engine->create_context()) << "\n";
}

}  // namespace

int main() try {
  ingot::StderrLogger logger(ingot::LogLevel::error);
  ingot::RuntimeConfig config;
  config.recorder = std::make_shared<ingot::ErrorRecorder>();  // takes errors, which else go to the logger
  const ingot::Runtime runtime(logger, config);
  replace_weights(runtime);
  ship_without_weights(runtime);
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
