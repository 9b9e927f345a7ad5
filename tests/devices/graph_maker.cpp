#include "tests/devices/graph_maker.h"

#include <algorithm>
#include <cmath>

#include "ir/numeric.h"
#include "ir/op_info.h"

namespace ingot::devices {
namespace {

double draw(Random& random, DType dtype, Range range) {
  if (dtype == DType::boolean) return static_cast<double>(random.below(2));
  if (is_floating(dtype)) return random.real(range.low, range.high);
  const double low = is_unsigned_integer(dtype) ? std::max(range.low, 0.0) : range.low;
  return static_cast<double>(
      random.between(static_cast<int64_t>(low), static_cast<int64_t>(std::max(range.high, low))));
}

}  // namespace

std::string_view source_name(Source source) {
  constexpr std::string_view kNames[] = {"plain",  "constant", "symbolic",     "computed", "transposed",
                                         "sliced", "reversed", "concatenated", "repeated", "reshaped"};
  return kNames[static_cast<size_t>(source)];
}

Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<double>& elements) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  encode_from_f64(dtype, elements.data(), tensor.count(), tensor.mutable_bytes().data());
  return tensor;
}

Tensor random_tensor(Random& random, DType dtype, const Shape& shape, Range range) {
  std::vector<double> elements(static_cast<size_t>(element_count(shape)));
  for (double& element : elements) element = draw(random, dtype, range);
  return tensor_of(dtype, shape, elements);
}

Tensor GraphMaker::content(DType dtype, const Shape& shape, Range range) {
  Tensor tensor = random_tensor(random, dtype, shape, range);
  if (!magnitudes_ || !is_floating(dtype)) return tensor;
  std::vector<double> elements(static_cast<size_t>(tensor.count()));
  decode_to_f64(dtype, tensor.bytes().data(), tensor.count(), elements.data());
  for (double& element : elements) element = std::fabs(element);
  return tensor_of(dtype, shape, elements);
}

Value GraphMaker::declare(Datum content, Type type) {
  const std::string name = fmt::format("x{}", inputs_.size());
  inputs_.push_back(std::move(content));
  return g.input(name, std::move(type));
}

Value GraphMaker::input(Tensor content) {
  Type type = Type::of(content);
  return declare(std::move(content), std::move(type));
}

Value GraphMaker::input(Sequence content, const Type& type) {
  return declare(std::move(content), Type::sequence(type));
}

Value GraphMaker::ints(const std::vector<int64_t>& values) {
  return constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

Value GraphMaker::reals(const std::vector<float>& values) {
  return constant(Tensor::of<float>({static_cast<int64_t>(values.size())}, values));
}

Value GraphMaker::tensor(DType dtype, const Shape& shape, Range range) {
  const bool first = operands_++ == 0;
  if (source_ == Source::constant && !first) return constant(content(dtype, shape, range));
  return from_source(dtype, shape, range);
}

Value GraphMaker::from_source(DType dtype, const Shape& shape, Range range) {
  if (source_ == Source::symbolic) {
    Dims dims;
    for (int64_t size : shape) dims.push_back(size == 1 ? Dim(1) : Dim::symbol(fmt::format("n{}", size)));
    return declare(content(dtype, shape, range), Type::tensor(dtype, std::move(dims)));
  }
  if (source_ == Source::computed) return computed(dtype, shape, range);
  if (source_ == Source::transposed && shape.size() > 1) return transposed(dtype, shape, range);
  if (source_ == Source::sliced && !shape.empty()) return sliced(dtype, shape, range);
  if (source_ == Source::reversed && !shape.empty()) return reversed(dtype, shape, range);
  if (source_ == Source::concatenated && !shape.empty()) return concatenated(dtype, shape, range);
  if (source_ == Source::repeated && !shape.empty()) return repeated(dtype, shape, range);
  if (source_ == Source::reshaped)
    return g.reshape(input(content(dtype, {element_count(shape)}, range)), ints(shape),
                     {.zero_is_zero = true});
  return input(content(dtype, shape, range));
}

Value GraphMaker::computed(DType dtype, const Shape& shape, Range range) {
  const Value a = input(content(dtype, shape, range)), b = input(content(dtype, shape, range));
  if (dtype == DType::boolean) return g.logical_xor(a, b);
  return is_sub_byte(dtype) || dtype == DType::f8e8m0 ? a : g.max(a, b);
}

Value GraphMaker::transposed(DType dtype, const Shape& shape, Range range) {
  std::vector<int64_t> permutation;
  for (size_t axis = shape.size(); axis-- > 0;) permutation.push_back(static_cast<int64_t>(axis));
  const Value x = input(content(dtype, Shape(shape.rbegin(), shape.rend()), range));
  return g.transpose(x, {.permutation = permutation});
}

Value GraphMaker::sliced(DType dtype, const Shape& shape, Range range) {
  Shape larger = shape, starts(shape.size()), ends(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    starts[axis] = axis % 2 == 0 ? 1 : 2;
    ends[axis] = shape[axis] + starts[axis];
    larger[axis] = shape[axis] + 3;
  }
  return g.slice(input(content(dtype, larger, range)), ints(starts), ints(ends), {}, {});
}

// Steps -1 along the last axis, 2 along the first where there are two.
Value GraphMaker::reversed(DType dtype, const Shape& shape, Range range) {
  Shape larger = shape;
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  if (last > 0) larger[0] = 2 * shape[0];
  const Value x = input(content(dtype, larger, range));
  if (last == 0) return g.slice(x, ints({-1}), ints({INT64_MIN}), ints({0}), ints({-1}));
  return g.slice(x, ints({-1, 0}), ints({INT64_MIN, INT64_MAX}), ints({last, 0}), ints({-1, 2}));
}

Value GraphMaker::concatenated(DType dtype, const Shape& shape, Range range) {
  Shape first = shape, second = shape;
  first.back() = shape.back() / 3;
  second.back() = shape.back() - first.back();
  const Value a = input(content(dtype, first, range)), b = input(content(dtype, second, range));
  return g.concat({a, b}, {.axis = -1});
}

Value GraphMaker::repeated(DType dtype, const Shape& shape, Range range) {
  Shape smaller = shape;
  smaller[0] = 1;
  if (shape[0] == 0) return input(content(dtype, shape, range));
  return g.broadcast_to(input(content(dtype, smaller, range)), ints(shape));
}

TestGraph GraphMaker::finish(const std::vector<Value>& outputs) && {
  for (size_t i = 0; i < outputs.size(); ++i) g.output(fmt::format("y{}", i), outputs[i]);
  return {std::make_shared<const Graph>(std::move(g).finish()), {std::move(inputs_)}};
}

}  // namespace ingot::devices
