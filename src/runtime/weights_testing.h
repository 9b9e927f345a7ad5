#pragma once

#include "runtime/test_engines.h"

// Helpers of the tests of weights.
namespace ingot {

// y = softmax(relu(x * dense.weight + dense.bias) * head.weight) over f32[4, 64]; the seed decides its
// weights.
Graph layers_graph(uint32_t seed);
// One of these three.
Tensor layers_weight(const std::string& name, uint32_t seed);
const std::vector<std::string>& layers_weight_names();
Tensor layers_input();

Tensor run_layers(Context& context);
// What the reference device makes of layers_graph(seed).
Tensor layers_reference(uint32_t seed);
// Whether the engine answers as one that was built with these weights: in the same bits on its own device,
// and as the reference device but for rounding.
void expect_layers(const Engine& engine, Context& context, uint32_t seed);

std::shared_ptr<const Engine> open_bytes(const std::vector<std::byte>& bytes, RuntimeConfig config = {},
                                         const OpenOptions& options = {});

// Gives an engine piece by piece; `size` is what it says, `given` after how many bytes it ends.
class BytesReader : public EngineReader {
 public:
  explicit BytesReader(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)), stated(bytes_.size()), given(bytes_.size()) {}
  uint64_t size() override { return stated; }
  size_t read(uint64_t offset, std::span<std::byte> into) override;

 private:
  const std::vector<std::byte> bytes_;

 public:
  uint64_t stated, given;
  uint64_t end = 0;       // of what was asked for
  size_t largest = 0;     // piece
  bool ascending = true;  // what was asked for
};

}  // namespace ingot
