#include "device/reference/elements.h"

#include <type_traits>

namespace ingot::reference {

template <class W>
void load_run(const Tensor& tensor, int64_t first, int64_t count, W* elements) {
  const std::byte* src = tensor.bytes().data() + first * bit_width(tensor.dtype()) / 8;
  if constexpr (std::is_same_v<W, double>)
    decode_to_f64(tensor.dtype(), src, count, elements);
  else if constexpr (std::is_same_v<W, int64_t>)
    decode_to_i64(tensor.dtype(), src, count, elements);
  else
    decode_to_u64(tensor.dtype(), src, count, elements);
}

template <class W>
void store_run(Tensor& tensor, int64_t first, int64_t count, const W* elements, EncodeOptions options) {
  std::byte* dst = tensor.mutable_bytes().data() + first * bit_width(tensor.dtype()) / 8;
  if constexpr (std::is_same_v<W, double>)
    encode_from_f64(tensor.dtype(), elements, count, dst, options);
  else if constexpr (std::is_same_v<W, int64_t>)
    encode_from_i64(tensor.dtype(), elements, count, dst, options);
  else
    encode_from_u64(tensor.dtype(), elements, count, dst, options);
}

template <class W>
std::vector<W> load(const Tensor& tensor) {
  std::vector<W> out(static_cast<size_t>(tensor.count()));
  load_run(tensor, 0, tensor.count(), out.data());
  return out;
}

template <class W>
void store(Tensor& tensor, const std::vector<W>& elements, EncodeOptions options) {
  store_run(tensor, 0, tensor.count(), elements.data(), options);
}

template void load_run(const Tensor&, int64_t, int64_t, double*);
template void load_run(const Tensor&, int64_t, int64_t, int64_t*);
template void load_run(const Tensor&, int64_t, int64_t, uint64_t*);
template void store_run(Tensor&, int64_t, int64_t, const double*, EncodeOptions);
template void store_run(Tensor&, int64_t, int64_t, const int64_t*, EncodeOptions);
template void store_run(Tensor&, int64_t, int64_t, const uint64_t*, EncodeOptions);
template std::vector<double> load(const Tensor&);
template std::vector<int64_t> load(const Tensor&);
template std::vector<uint64_t> load(const Tensor&);
template void store(Tensor&, const std::vector<double>&, EncodeOptions);
template void store(Tensor&, const std::vector<int64_t>&, EncodeOptions);
template void store(Tensor&, const std::vector<uint64_t>&, EncodeOptions);

template <class T>
Cells<T>::Cells(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    data_ = tensor.strings().data();
  } else if (is_sub_byte(tensor.dtype())) {
    unpacked_.resize(static_cast<size_t>(tensor.count()));
    unpack(tensor.dtype(), tensor.bytes().data(), tensor.count(),
           reinterpret_cast<std::byte*>(unpacked_.data()));
    data_ = unpacked_.data();
  } else {
    data_ = reinterpret_cast<const T*>(tensor.bytes().data());
  }
}

template <class T>
OutCells<T>::OutCells(Tensor& tensor) : tensor_(tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    data_ = tensor.mutable_strings().data();
  } else if (is_sub_byte(tensor.dtype())) {
    unpacked_.resize(static_cast<size_t>(tensor.count()));
    data_ = unpacked_.data();
  } else {
    data_ = reinterpret_cast<T*>(tensor.mutable_bytes().data());
  }
}

template <class T>
OutCells<T>::~OutCells() {
  if constexpr (!std::is_same_v<T, std::string>)
    if (is_sub_byte(tensor_.dtype()))
      pack(tensor_.dtype(), reinterpret_cast<const std::byte*>(unpacked_.data()), tensor_.count(),
           tensor_.mutable_bytes().data());
}

template class Cells<uint8_t>;
template class Cells<uint16_t>;
template class Cells<uint32_t>;
template class Cells<uint64_t>;
template class Cells<std::string>;
template class OutCells<uint8_t>;
template class OutCells<uint16_t>;
template class OutCells<uint32_t>;
template class OutCells<uint64_t>;
template class OutCells<std::string>;

}  // namespace ingot::reference
