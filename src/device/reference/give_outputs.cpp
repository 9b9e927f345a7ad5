#include "device/reference/give_outputs.h"

#include <algorithm>

namespace ingot {
namespace {

bool has_raw_bytes(const Type& declared, const Datum& datum) {
  return declared.is_tensor() && declared.dtype != DType::string && datum.is_tensor();
}

void give(const Graph& graph, size_t index, const Datum& output, OutputSink& sink) {
  if (has_raw_bytes(graph.type(graph.outputs()[index].value), output)) {
    const Tensor& tensor = output.tensor();
    if (std::optional<std::span<std::byte>> memory = sink.memory(index, tensor.shape())) {
      if (memory->data() != tensor.bytes().data()) std::ranges::copy(tensor.bytes(), memory->begin());
      return;
    }
  }
  sink.deliver(index, output);
}

bool is_part_of(const Tensor& tensor, std::span<const Datum> inputs) {
  return std::ranges::any_of(inputs, [&](const Datum& input) {
    if (!input.is_tensor()) return false;
    const std::byte *begin = input.tensor().bytes().data(), *at = tensor.bytes().data();
    return at >= begin && at < begin + input.tensor().bytes().size();
  });
}

// A copy of what another output may be written over.
Datum apart(const Datum& output, std::span<const Datum> inputs) {
  if (!output.is_tensor() || !is_part_of(output.tensor(), inputs)) return output;
  Tensor copy = Tensor::allocate(output.tensor().dtype(), output.tensor().shape());
  std::ranges::copy(output.tensor().bytes(), copy.mutable_bytes().begin());
  return copy;
}

}  // namespace

void give_outputs(const Graph& graph, std::span<const Datum> inputs, std::span<const Datum* const> outputs,
                  OutputSink& sink) {
  std::vector<std::pair<size_t, Datum>> last;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    if (sink.in_place_of(i))
      last.emplace_back(i, apart(*outputs[i], inputs));
    else
      give(graph, i, *outputs[i], sink);
  }
  for (const auto& [index, output] : last) give(graph, index, output, sink);
}

}  // namespace ingot
