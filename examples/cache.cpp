// Kernels that are compiled once: kept in a file that an application carries, or brought along with it.
//
//   cache              builds an engine, compiles its kernels and keeps them in cache.kernels
//   cache              again: takes them from there; needs no compiler
//   cache --prebuild   compiles them for other processors, as one does where an application is packed
#include <filesystem>
#include <iostream>

#include "ingot/builder.h"
#include "ingot/runtime.h"
#include "ingot/runtime_cache.h"

namespace {

constexpr const char* kEngine = "cache.ingot";
constexpr const char* kKernels = "cache.kernels";

// y = softmax(tanh(x) * 3)
void build() {
  ingot::GraphBuilder g("example");
  ingot::Value x = g.input("x", ingot::Type::tensor(ingot::DType::f32, {2, 3}));
  g.output("y", g.softmax(g.mul(g.tanh(x), g.constant(ingot::Tensor::of<float>({1}, {3})))));
  ingot::build_engine_file(std::move(g).finish(), kEngine);
}

void prebuild(ingot::RuntimeCache& cache) {
  ingot::prebuild_kernels(kEngine, {"cpu:x86-64-v3", "cpu:x86-64-v4"}, cache);
  cache.save(kKernels);
  std::cout << "prebuilt\n";
}

void run(const std::shared_ptr<ingot::RuntimeCache>& cache, ingot::Logger& logger) {
  // The same object may serve any number of runtimes and engines.
  ingot::RuntimeConfig config;
  config.cache = cache;
  const auto engine = ingot::Runtime(logger, config).open(kEngine);
  const auto out =
      engine->create_context()->run({{"x", ingot::Tensor::of<float>({2, 3}, {0, 0, 0, 0, 0, 0})}});
  std::cout << "y[0, 0] = " << out.at("y").tensor().data<float>()[0] << "\n";
  std::cout << (engine->stats().kernels_compiled > 0 ? "compiled" : "nothing to compile") << "\n";
}

}  // namespace

int main(int argc, char**) try {
  ingot::StderrLogger logger;
  const auto cache = std::make_shared<ingot::RuntimeCache>(logger);  // in memory
  if (!std::filesystem::exists(kEngine)) build();
  if (argc > 1) return prebuild(*cache), 0;
  // What another version of Ingot or a larger processor left there is counted and refused, entry by entry.
  if (std::filesystem::exists(kKernels)) cache->load(kKernels);
  run(cache, logger);
  cache->save(kKernels);  // adds to what other processes have saved since
} catch (const ingot::Error& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
