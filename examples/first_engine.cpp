// From a model to a result: asks whether an engine can be used, builds it if not, and runs it on memory of
// its own.
//
//   first_engine [MODEL.onnx]      without a model: a small classifier, described here
#include <filesystem>
#include <iostream>

#include "ingot/builder.h"
#include "ingot/import.h"
#include "ingot/runtime.h"

namespace {

ingot::Graph classifier() {
  ingot::GraphBuilder g("classifier");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {ingot::Dim::symbol("batch"), 3}));
  ingot::Value weights = g.constant(ingot::Tensor::of<float>({3, 2}, {1, 0, 0, 1, 1, 1}));
  g.output("scores", g.softmax(g.matmul(x, weights)));
  return std::move(g).finish();
}

// Reads the first 64 bytes only, and says what to do about an engine that does not open.
bool is_usable(const ingot::Runtime& runtime, const std::string& path) {
  if (!std::filesystem::exists(path)) return false;
  const ingot::EngineValidity validity = runtime.check_validity(path);
  for (const auto& finding : validity.findings) std::cerr << finding.text << " " << finding.remedy << "\n";
  return validity.status != ingot::EngineStatus::invalid;
}

// Ones, of size 1 where the engine leaves a size open.
void bind_ones(ingot::Context& context, const ingot::PortInfo& port, std::vector<float>& memory) {
  ingot::Shape shape;
  for (const ingot::Dim& dim : port.type.dims.value()) shape.push_back(dim.value().value_or(1));
  context.set_shape(port.name, shape);
  memory.assign(static_cast<size_t>(ingot::element_count(shape)), 1.0f);
  context.bind_input<float>(port.name, memory);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string path = "first_engine.ingot";
  ingot::StderrLogger logger;  // where messages of the library go; it prints nothing by itself
  const ingot::Runtime runtime(logger);
  if (!is_usable(runtime, path)) {
    ingot::build_engine_file(argc > 1 ? ingot::import_onnx(argv[1]) : classifier(), path);
  }
  const auto engine = runtime.open(path);
  const auto context = engine->create_context();

  std::vector<std::vector<float>> inputs(engine->inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i) bind_ones(*context, engine->inputs()[i], inputs[i]);
  const std::string output = engine->outputs().at(0).name;
  std::vector<float> result(context->required_bytes(output) / sizeof(float));
  context->bind_output<float>(output, result);

  ingot::Stream stream;
  context->enqueue(
      stream);  // returns at once: `inputs` and `result` belong to the inference until it is done
  stream.synchronize();
  std::cout << output << " " << ingot::to_string(context->result_shape(output)) << ":";
  for (size_t i = 0; i < std::min<size_t>(result.size(), 5); ++i) std::cout << " " << result[i];
  std::cout << "\n";
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
