#include "device/reference/kernel.h"

#include "device/reference/elements.h"
#include "ingot/error.h"
#include "ir/inference.h"
#include "ir/shape_values.h"

namespace ingot::reference {

KernelContext::KernelContext(const Node& node, std::span<const Datum> operands, const RunBody* run_body)
    : node_(node),
      operands_(operands),
      run_body_(run_body),
      tensors_(node.types.size()),
      outputs_(node.types.size()) {}

std::vector<Datum> KernelContext::run_body(size_t subgraph, std::span<const Datum> inputs) const {
  const GraphPtr& body = node_.subgraphs[subgraph];
  return run_body_ ? (*run_body_)(body, inputs) : evaluate(*body, inputs);
}

const Datum& KernelContext::datum(size_t i) const {
  if (!has(i)) fail(fmt::format("operand {}", i), "none");
  return operands_[i];
}

std::vector<int64_t> KernelContext::ints(size_t i) const {
  return has(i) ? load<int64_t>(in(i)) : std::vector<int64_t>();
}

std::vector<Type> result_types(const Node& node, std::span<const Datum> operands) {
  std::vector<Type> types(operands.size());
  std::vector<Inference::Operand> seen(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].is_none()) continue;
    if (operands[i].is_sequence()) {
      const Sequence& s = operands[i].sequence();
      types[i] = Type::sequence(Type::unranked(s.empty() ? DType::f32 : s[0].dtype()));
      seen[i].type = &types[i];
      continue;
    }
    const Tensor& t = operands[i].tensor();
    types[i] = Type::of(t);
    seen[i] = {&types[i], [&t] { return constant_values(t); }};
  }
  Inference inference(node.attrs, node.subgraphs, std::move(seen), node.types.size(),
                      [](std::string_view hint) { return Dim::symbol(hint); });
  return inference.run();
}

const Type& KernelContext::out_type(size_t i) {
  if (types_.empty()) types_ = result_types(node_, operands_);
  return types_.at(i);
}

Tensor& KernelContext::out(size_t i) {
  if (!tensors_.at(i)) {
    const Type& type = out_type(i);
    if (!type.is_ranked()) fail("an output whose shape follows from its operands", to_string(type));
    Shape shape;
    for (const Dim& d : *type.dims) shape.push_back(d.constant());
    tensors_[i] = Tensor::allocate(type.dtype, std::move(shape));
  }
  return *tensors_[i];
}

std::vector<Datum> KernelContext::take_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (tensors_[i]) outputs_[i] = std::move(*tensors_[i]);
  return std::move(outputs_);
}

void KernelContext::fail(std::string expected, std::string observed) const {
  throw Error({.code = ErrorCode::invalid_argument,
               .object = fmt::format("op {}", to_string(node_.op)),
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "Check the values of the inputs: this op does not accept what they lead to."});
}

Kernel find_kernel(Op op) {
  static const KernelTable table = [] {
    KernelTable t;
    add_activation_kernels(t);
    add_box_kernels(t);
    add_cast_kernels(t);
    add_contraction_kernels(t);
    add_control_kernels(t);
    add_convolution_kernels(t);
    add_indexing_kernels(t);
    add_movement_kernels(t);
    add_pointwise_binary_kernels(t);
    add_pointwise_unary_kernels(t);
    add_pooling_kernels(t);
    add_quantization_kernels(t);
    add_random_kernels(t);
    add_reduce_kernels(t);
    add_resize_kernels(t);
    add_sampling_kernels(t);
    add_scan_kernels(t);
    add_sequence_kernels(t);
    add_signal_kernels(t);
    add_slice_kernels(t);
    add_sort_kernels(t);
    add_text_kernels(t);
    return t;
  }();
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace ingot::reference
