#include "import/onnx/aligned_copies.h"

namespace ingot {
namespace {

constexpr size_t kWorthRelease = size_t{64} << 10;  // below, the pages hold mostly something else

}  // namespace

Tensor OnnxAlignedCopies::aligned(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const auto key = std::pair(bytes.data(), bytes.size());
  auto known = copies_.find(key);
  if (known != copies_.end() && known->second.dtype() == tensor.dtype())
    return known->second.reshaped(tensor.shape());
  Tensor copy = tensor.aligned();
  if (copy.bytes().data() == bytes.data()) return copy;
  copies_.insert_or_assign(key, copy);
  if (bytes.size() >= kWorthRelease) release_(bytes);
  return copy;
}

}  // namespace ingot
