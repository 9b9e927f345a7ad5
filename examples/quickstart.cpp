// Describes a small model, compiles it into an engine file, and runs that.
#include <iostream>

#include "ingot/builder.h"
#include "ingot/graph.h"
#include "ingot/runtime.h"

int main() try {
  ingot::GraphBuilder g("scorer");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {ingot::Dim::symbol("batch"), 3}));
  ingot::Value weights = g.constant(ingot::Tensor::of<float>({3, 2}, {1, 0, 0, 1, 1, 1}));
  g.output("scores", g.sigmoid(g.matmul(x, weights)));
  ingot::build_engine_file(std::move(g).finish(), "scorer.ingot");

  ingot::StderrLogger logger;
  auto context = ingot::Runtime(logger).open("scorer.ingot")->create_context();
  auto outputs = context->run({{"x", ingot::Tensor::of<float>({1, 3}, {1, 2, -3})}});
  for (float score : outputs.at("scores").tensor().data<float>()) std::cout << score << "\n";
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
