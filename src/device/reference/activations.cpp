#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "ir/arithmetic.h"

// Composites of one operand, computed in one go: each result is rounded once. decompose_activations.cpp says
// what they mean; activations_test.cpp that both agree.
namespace ingot::reference {
namespace {

// out[i] = f(x[i], attributes).
template <class A, class F>
void map(KernelContext& c, F f) {
  const A& a = c.attrs<A>();
  transform<double, double>(
      c.out(0), [&](double x) { return std::isnan(x) ? x : f(x, a); }, c.in(0));
}

}  // namespace

void add_activation_kernels(KernelTable& t) {
#define ACTIVATION(Name, f)                                                                                  \
  t[Op::Name] = [](KernelContext& c) {                                                                       \
    map<Name##Attrs>(c, []([[maybe_unused]] double x, [[maybe_unused]] const Name##Attrs& a) { return f; }); \
  }
  ACTIVATION(Elu, x < 0 ? a.alpha * std::expm1(x) : x);
  ACTIVATION(Gelu, a.form == GeluForm::erf ? gelu_erf(x) : gelu_tanh(x));
  ACTIVATION(HardSigmoid, hard_sigmoid(x, a.alpha, a.beta));
  ACTIVATION(HardSwish, x * hard_sigmoid(x, 1.0 / 6, 0.5));
  ACTIVATION(LeakyRelu, x < 0 ? a.alpha * x : x);
  ACTIVATION(Mish, x * std::tanh(softplus(x)));
  ACTIVATION(Softplus, softplus(x));
  ACTIVATION(Swish, x * sigmoid(a.alpha * x));
#undef ACTIVATION
}

}  // namespace ingot::reference
