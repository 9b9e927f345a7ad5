#include "ir/recurrent.h"

#include "import/onnx/node_context.h"
#include "import/onnx/op_table.h"
#include "ir/small_constants.h"

namespace ingot {
namespace {

struct ActivationForm {
  std::string_view onnx, name;
  std::optional<double> alpha, beta;  // defaults, where the activation has the parameter
};

constexpr ActivationForm kForms[] = {
    {"Sigmoid", "sigmoid", {}, {}},
    {"Tanh", "tanh", {}, {}},
    {"Relu", "relu", {}, {}},
    {"Affine", "affine", 1.0, 0.0},
    {"LeakyRelu", "leaky_relu", 0.01, {}},
    {"ThresholdedRelu", "thresholded_relu", 1.0, {}},
    {"ScaledTanh", "scaled_tanh", 1.0, 1.0},
    {"HardSigmoid", "hard_sigmoid", 0.2, 0.5},
    {"Elu", "elu", 1.0, {}},
    {"Softsign", "softsign", {}, {}},
    {"Softplus", "softplus", {}, {}},
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return std::tolower(x) == std::tolower(y); });
}

const ActivationForm& find_form(const OnnxNodeContext& c, std::string_view name) {
  for (const ActivationForm& form : kForms)
    if (equal_ignoring_case(form.onnx, name)) return form;
  c.fail_invalid("an activation of the ONNX recurrent operators", std::string(name));
}

// Alphas and betas are listed only for the activations that have them, in order.
template <class A>
void set_activations(const OnnxNodeContext& c, A& a, const std::vector<std::string>& defaults) {
  auto names = c.texts_attr("activations");
  if (names.empty())
    for (size_t i = 0; i < direction_count(a.direction); ++i)
      names.insert(names.end(), defaults.begin(), defaults.end());
  auto alphas = c.floats_attr("activation_alpha"), betas = c.floats_attr("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  auto take = [](std::optional<double> missing, const std::vector<double>& given, size_t& next) {
    if (!missing) return 0.0;
    return next < given.size() ? given[next++] : *missing;
  };
  for (const std::string& name : names) {
    const ActivationForm& form = find_form(c, name);
    a.activations.emplace_back(form.name);
    a.alphas.push_back(take(form.alpha, alphas, next_alpha));
    a.betas.push_back(take(form.beta, betas, next_beta));
  }
}

template <class A>
A common_attrs(const OnnxNodeContext& c, std::vector<std::string> defaults) {
  A a;
  a.direction = c.enum_attr<Direction>("direction", "forward",
                                       {{"forward", Direction::forward},
                                        {"reverse", Direction::reverse},
                                        {"bidirectional", Direction::bidirectional}});
  a.clip = c.float_attr("clip", 0);
  set_activations(c, a, std::move(defaults));
  return a;
}

// With layout 1 the batch comes first everywhere: the axes change places on the way in and out.
class Layout {
 public:
  explicit Layout(OnnxNodeContext& c) : c_(c), batch_first_(c.flag_attr("layout", false)) {}

  Value in(size_t i) const {
    Value v = c_.optional(i);
    return v.is_none() || !batch_first_ ? v : c_.g().transpose(v, {.permutation = {1, 0, 2}});
  }
  std::vector<Value> out(std::vector<Value> results) const {
    if (!batch_first_) return results;
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<int64_t> order = i == 0 ? std::vector<int64_t>{2, 0, 1, 3} : std::vector<int64_t>{1, 0, 2};
      results[i] = c_.g().transpose(results[i], {.permutation = order});
    }
    return results;
  }

 private:
  OnnxNodeContext& c_;
  bool batch_first_;
};

std::vector<Value> rnn(OnnxNodeContext& c) {
  Layout layout(c);
  auto [y, h] = c.g().rnn(layout.in(0), c.in(1), c.in(2), c.optional(3), c.optional(4), layout.in(5),
                          common_attrs<RnnAttrs>(c, {"Tanh"}));
  return layout.out({y, h});
}

std::vector<Value> gru(OnnxNodeContext& c) {
  Layout layout(c);
  auto attrs = common_attrs<GruAttrs>(c, {"Sigmoid", "Tanh"});
  attrs.linear_before_reset = c.flag_attr("linear_before_reset", false);
  auto [y, h] = c.g().gru(layout.in(0), c.in(1), c.in(2), c.optional(3), c.optional(4), layout.in(5), attrs);
  return layout.out({y, h});
}

std::vector<Value> lstm(OnnxNodeContext& c) {
  Layout layout(c);
  auto attrs = common_attrs<LstmAttrs>(c, {"Sigmoid", "Tanh", "Tanh"});
  attrs.input_forget = c.flag_attr("input_forget", false);
  auto [y, h, cell] = c.g().lstm(layout.in(0), c.in(1), c.in(2), c.optional(3), c.optional(4), layout.in(5),
                                 layout.in(6), c.optional(7), attrs);
  return layout.out({y, h, cell});
}

}  // namespace

void add_onnx_recurrent(OnnxOpTable& t) {
  t[{"", "GRU"}] = {.import = gru};
  t[{"", "LSTM"}] = {.import = lstm};
  t[{"", "RNN"}] = {.import = rnn};
}

}  // namespace ingot
