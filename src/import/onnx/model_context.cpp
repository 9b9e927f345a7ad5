#include "import/onnx/model_context.h"

#include <cctype>

#include "import/onnx/aligned_copies.h"
#include "ingot/error.h"

namespace ingot {
namespace {

// Some exporters write "?" for every size they do not know; such sizes are not equal.
bool is_name(std::string_view param) {
  return std::ranges::any_of(param, [](unsigned char c) { return std::isalnum(c) || c >= 0x80; });
}

}  // namespace

std::string_view normal_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

const OnnxFunction* OnnxModelContext::find_function(const OnnxNode& node) const {
  auto found = functions.find({normal_domain(node.domain), node.op_type, node.overload});
  return found == functions.end() ? nullptr : found->second;
}

void OnnxModelContext::count_node() const {
  if (++imported_nodes <= node_limit) return;
  throw Error(
      {.code = ErrorCode::unsupported,
       .object = "ONNX model",
       .name = source.file,
       .expected = fmt::format("at most {} nodes once functions and bodies are unfolded", node_limit),
       .observed = "more",
       .remedy = "Give shared functions and bodies nodes of their own, or export without functions."});
}

Type type_from_onnx(const OnnxType& type, std::string_view name, GraphBuilder& g) {
  switch (type.kind) {
    case OnnxType::Kind::tensor: {
      DType dtype = dtype_from_onnx(type.elem_type, name);
      if (!type.shape) return Type::unranked(dtype);
      Dims dims;
      for (const OnnxDim& d : *type.shape) {
        if (d.value)
          dims.push_back(*d.value);
        else if (is_name(d.param))
          dims.push_back(Dim::symbol(d.param));
        else
          dims.push_back(g.fresh_dim("unknown"));
      }
      return Type::tensor(dtype, std::move(dims));
    }
    case OnnxType::Kind::sequence: return Type::sequence(type_from_onnx(type.element.at(0), name, g));
    case OnnxType::Kind::optional: return Type::optional(type_from_onnx(type.element.at(0), name, g));
    default:
      throw Error({.code = ErrorCode::unsupported,
                   .object = "ONNX value",
                   .name = std::string(name),
                   .expected = "a tensor, a sequence or an optional",
                   .observed = "a map, a sparse tensor or no type",
                   .remedy = "Export the model with dense tensors at its inputs and outputs."});
  }
}

Tensor tensor_from_onnx(const OnnxTensor& tensor, const OnnxSource& source) {
  OnnxTensorData data = decode_tensor(tensor, source);
  if (data.dtype == DType::string) return Tensor::of_strings(std::move(data.dims), std::move(data.strings));
  Tensor stored = Tensor::share(data.dtype, std::move(data.dims), data.bytes, std::move(data.owner));
  return source.copies == nullptr ? stored.aligned() : source.copies->aligned(stored);
}

}  // namespace ingot
