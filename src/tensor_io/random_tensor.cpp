#include "tensor_io/random_tensor.h"

#include "ir/numeric.h"

namespace ingot {
namespace {

// std::uniform_real_distribution differs between libraries; the top 53 bits do not.
double unit_interval(std::mt19937_64& generator) { return static_cast<double>(generator() >> 11) * 0x1p-53; }

int64_t integers_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::i2: return 2;
    case DType::u2: return 4;
    case DType::i4: return 8;
    default: return 10;
  }
}

}  // namespace

Tensor random_tensor(DType dtype, Shape shape, std::mt19937_64& generator) {
  const auto count = static_cast<size_t>(element_count(shape));
  if (dtype == DType::string) {
    std::vector<std::string> texts(count);
    for (std::string& t : texts) t = std::to_string(generator() % 10);
    return Tensor::of_strings(std::move(shape), std::move(texts));
  }
  Tensor out = Tensor::allocate(dtype, std::move(shape));
  // In pieces: the values take 8 bytes each, the elements may take a quarter of one.
  constexpr size_t kPiece = 4096;
  std::vector<double> values;
  for (size_t begin = 0; begin < count; begin += kPiece) {
    values.resize(std::min(kPiece, count - begin));
    for (double& v : values)
      v = is_floating(dtype)
              ? 2 * unit_interval(generator) - 1
              : static_cast<double>(static_cast<int64_t>(generator() % 1000) % integers_of(dtype));
    encode_from_f64(dtype, values.data(), static_cast<int64_t>(values.size()),
                    out.mutable_bytes().data() + byte_size(dtype, static_cast<int64_t>(begin)));
  }
  return out;
}

}  // namespace ingot
