#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/builder_helpers.h"

// The small ops of the domain ai.onnx.ml.
namespace ingot {
namespace {

// A vector counts as a matrix of one row.
std::vector<Value> array_feature_extractor(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value x = c.in(0), indices = g.reshape(c.in(1), int_list(g, {-1}));
  if (g.rank(x) == 1) x = g.unsqueeze(x, int_list(g, {0}));
  return {g.gather(x, indices, {.axis = -1})};
}

std::vector<Value> binarizer(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  Value threshold = scalar(g, c.dtype(0), c.float_attr("threshold", 0));
  return {g.cast(g.less(threshold, c.in(0)), {.to = c.dtype(0)})};
}

template <class T>
Tensor vector_of(const std::vector<T>& elements) {
  return Tensor::of({static_cast<int64_t>(elements.size())}, elements);
}

// `keys` or `values`, whose element type is in the name of the attribute.
std::optional<Tensor> column(const OnnxNodeContext& c, const std::string& name) {
  if (auto t = c.tensor_attr(name + "_tensor")) return t;
  if (const OnnxAttribute* a = c.find(name + "_floats")) return vector_of(a->floats);
  if (c.has_attr(name + "_int64s")) return vector_of(c.ints_attr(name + "_int64s"));
  if (!c.has_attr(name + "_strings")) return std::nullopt;
  auto texts = c.texts_attr(name + "_strings");
  auto count = static_cast<int64_t>(texts.size());
  return Tensor::of_strings({count}, std::move(texts));
}

Tensor fallback(const OnnxNodeContext& c, DType dtype) {
  if (auto t = c.tensor_attr("default_tensor")) return t->reshaped({});
  if (dtype == DType::string) return Tensor::of_strings({}, {c.text_attr("default_string", "_Unused")});
  if (is_floating(dtype)) return scalar(dtype, c.float_attr("default_float", -0.0));
  return Tensor::of<int64_t>({}, {c.int_attr("default_int64", -1)});
}

std::vector<Value> label_encoder(OnnxNodeContext& c) {
  GraphBuilder& g = c.g();
  // The first version maps strings to their place in a list, and integers back.
  if (c.has_attr("classes_strings")) {
    auto texts = c.texts_attr("classes_strings");
    auto count = static_cast<int64_t>(texts.size());
    Value names = g.constant(Tensor::of_strings({count}, std::move(texts)));
    Value places = g.range(scalar(g, DType::i64, 0), scalar(g, DType::i64, static_cast<double>(count)),
                           scalar(g, DType::i64, 1));
    if (c.dtype(0) == DType::string)
      return {g.lookup(c.in(0), names, places, g.constant(fallback(c, DType::i64)))};
    return {g.lookup(c.in(0), places, names, g.constant(fallback(c, DType::string)))};
  }
  auto keys = column(c, "keys"), values = column(c, "values");
  if (!keys || !values) c.fail_invalid("attributes keys_* and values_*", "none");
  Tensor rest = fallback(c, values->dtype());
  if (rest.dtype() != values->dtype()) {
    if (c.has_attr("default_tensor")) c.fail_invalid("a default of the type of the values", "another type");
    rest = scalar(values->dtype(), static_cast<double>(c.int_attr("default_int64", -1)));
  }
  return {g.lookup(c.in(0), g.constant(*keys), g.constant(*values), g.constant(rest))};
}

}  // namespace

void add_onnx_ml(OnnxOpTable& t) {
  t[{"ai.onnx.ml", "ArrayFeatureExtractor"}] = {.import = array_feature_extractor};
  t[{"ai.onnx.ml", "Binarizer"}] = {.import = binarizer};
  t[{"ai.onnx.ml", "LabelEncoder"}] = {.import = label_encoder};
}

}  // namespace ingot
