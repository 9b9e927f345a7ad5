#include "tests/devices/run.h"

#include <algorithm>
#include <stdexcept>

namespace ingot::devices {
namespace {

class Collector : public OutputSink {
 public:
  explicit Collector(const Graph& graph) : graph_(graph), outputs_(graph.outputs().size()) {}

  std::optional<std::span<std::byte>> memory(size_t index, const Shape& shape) override {
    Tensor tensor = Tensor::allocate(graph_.type(graph_.outputs()[index].value).dtype, shape);
    std::span<std::byte> bytes = tensor.mutable_bytes();
    std::ranges::fill(bytes, std::byte{0xA5});
    give(index, std::move(tensor));
    return bytes;
  }
  void deliver(size_t index, Datum output) override { give(index, std::move(output)); }

  std::vector<Datum> take() {
    for (const auto& output : outputs_)
      if (!output) throw std::logic_error("an output was not given");
    std::vector<Datum> taken;
    for (auto& output : outputs_) taken.push_back(*std::move(output));
    return taken;
  }

 private:
  void give(size_t index, Datum output) {
    if (outputs_.at(index)) throw std::logic_error("an output was given twice");
    outputs_[index] = std::move(output);
  }

  const Graph& graph_;
  std::vector<std::optional<Datum>> outputs_;
};

}  // namespace

std::vector<Datum> run(Execution& execution, const Graph& graph, std::span<const Datum> inputs) {
  Collector collector(graph);
  execution.run(inputs, collector);
  return collector.take();
}

bool identical(const Datum& a, const Datum& b) {
  if (a.is_tensor() && b.is_tensor()) return a.tensor().identical(b.tensor());
  if (a.is_sequence() && b.is_sequence())
    return std::ranges::equal(a.sequence(), b.sequence(),
                              [](const Tensor& x, const Tensor& y) { return x.identical(y); });
  return a.is_none() && b.is_none();
}

}  // namespace ingot::devices
