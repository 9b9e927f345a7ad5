#include "runtime/outputs.h"

#include "ingot/error.h"
#include "runtime/overlap.h"
#include "runtime/ports.h"

namespace ingot {

std::optional<std::span<std::byte>> BoundOutputs::memory(size_t index, const Shape& shape) {
  const PortInfo& port = engine_.outputs[index];
  const OutputSlot& slot = bindings_.outputs[index];
  const size_t bytes = byte_size(port.type.dtype, element_count(shape));
  shapes_[index] = shape;
  if (bytes == 0) return std::span<std::byte>();
  if (slot.allocator) return std::span(allocate(index, shape, bytes), bytes);
  require_output_bytes(port, shape, slot.bytes);
  return std::span(static_cast<std::byte*>(slot.memory), bytes);
}

std::byte* BoundOutputs::allocate(size_t index, const Shape& shape, size_t bytes) const {
  const PortInfo& port = engine_.outputs[index];
  auto* memory = static_cast<std::byte*>(bindings_.outputs[index].allocator(port.name, shape, bytes));
  if (memory == nullptr)
    throw Error(
        {.code = ErrorCode::out_of_memory,
         .object = "output",
         .name = port.name,
         .expected = fmt::format("{} bytes from the output allocator for shape {}", bytes, to_string(shape)),
         .observed = "null"});
  require_aligned(port, "output", memory);
  require_apart(engine_, bindings_.inputs, port, {memory, bytes});
  return memory;
}

void BoundOutputs::deliver(size_t index, Datum output) {
  const Tensor& tensor = output.tensor();
  const std::span<std::byte> target = *memory(index, tensor.shape());
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), target.begin());
}

}  // namespace ingot
