// Shapes that change between inferences: profiles say which ones an engine promises, outputs whose size only
// running can tell get their memory from an allocator.
#include <iostream>

#include "ingot/builder.h"
#include "ingot/runtime.h"

namespace {

// The positions of the elements above zero, in a row of any length.
ingot::Graph positive_positions() {
  ingot::GraphBuilder g("positive_positions");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {ingot::Dim::symbol("length")}));
  ingot::Value zero = g.constant(ingot::Tensor::of<float>({}, {0}));
  g.output("positions", g.non_zero(g.less(zero, x)));
  return std::move(g).finish();
}

std::vector<std::byte> build() {
  ingot::BuilderConfig config;
  config.profiles = {{"short", {}, {{"length", {1, 4, 16}}}}, {"long", {}, {{"length", {17, 256, 1024}}}}};
  return ingot::build_engine(positive_positions(), config);
}

// Runs the context on `x`, whose length is within its profile.
std::vector<int64_t> positions(ingot::Context& context, std::vector<float> x) {
  std::vector<int64_t> result;
  context.set_shape("x", {static_cast<int64_t>(x.size())});
  context.bind_input<float>("x", x);
  context.set_output_allocator("positions", [&](const std::string&, const ingot::Shape&, size_t bytes) {
    result.resize(bytes / sizeof(int64_t));
    return result.data();
  });
  ingot::Stream stream;
  context.enqueue(stream);
  stream.synchronize();
  return result;
}

}  // namespace

int main() try {
  const auto bytes = build();
  ingot::StderrLogger logger;
  ingot::RuntimeConfig config;
  config.recorder = std::make_shared<ingot::ErrorRecorder>();  // takes errors, which else go to the logger
  const auto engine = ingot::Runtime(logger, config).open(bytes, nullptr, "positive positions");
  const auto context = engine->create_context();
  for (int64_t i : positions(*context, {1, -1, 0, 2})) std::cout << i << " ";

  context->set_profile(1);  // forgets the shapes set for the other one
  std::vector<float> spike(500, -1.0f);
  spike[321] = 1;
  for (int64_t i : positions(*context, spike)) std::cout << i << " ";

  try {
    context->set_shape("x", {5});
  } catch (const ingot::Error& e) {
    std::cout << "\n" << e.what() << "\n";  // names the tensor, the size and what the profile allows
  }
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
