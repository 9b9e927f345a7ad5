#include "device/cpu/routines/recurrent_cell.h"

#include <algorithm>

#include "device/cpu/routines/vector_math.h"
#include "ir/recurrent.h"

namespace ingot::cpu {
namespace {

INGOT_SIMD void sigmoid_all(float* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = fast_sigmoid(x[i]);
}

INGOT_SIMD void tanh_all(float* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = fast_tanh(x[i]);
}

INGOT_SIMD void clip_all(float* x, float clip, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const float low = x[i] < -clip ? -clip : x[i];
    x[i] = low > clip ? clip : low;
  }
}

// The less common ones.
float activate(const Activation& a, float x) {
  switch (a.kind) {
    case ActivationKind::relu: return x < 0 ? 0 : x;
    case ActivationKind::affine: return x * a.alpha + a.beta;
    case ActivationKind::leaky_relu: return x < 0 ? x * a.alpha : x;
    case ActivationKind::thresholded_relu: return a.alpha < x ? x : 0;
    case ActivationKind::scaled_tanh: return std::tanh(x * a.beta) * a.alpha;
    case ActivationKind::hard_sigmoid: {
      const float line = x * a.alpha + a.beta, low = line < 0 ? 0 : line;
      return low > 1 ? 1 : low;
    }
    case ActivationKind::elu: return x < 0 ? std::expm1(x) * a.alpha : x;
    case ActivationKind::softsign: return x / (std::fabs(x) + 1);
    case ActivationKind::softplus: return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x)));
    case ActivationKind::sigmoid:
    case ActivationKind::tanh: break;
  }
  return x;
}

// x += a * b
INGOT_SIMD void add_product(float* x, const float* a, const float* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] += a[i] * b[i];
}

// c = keep * c + in * next
INGOT_SIMD void blend(const float* keep, float* c, const float* in, const float* next, int64_t count) {
  for (int64_t i = 0; i < count; ++i) c[i] = keep[i] * c[i] + in[i] * next[i];
}

INGOT_SIMD void complement(const float* x, float* rest, int64_t count) {
  for (int64_t i = 0; i < count; ++i) rest[i] = 1 - x[i];
}

INGOT_SIMD void multiply_all(const float* a, const float* b, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
}

}  // namespace

void Activation::apply(float* x, int64_t count) const {
  if (clip > 0) clip_all(x, clip, count);
  if (kind == ActivationKind::sigmoid) return sigmoid_all(x, count);
  if (kind == ActivationKind::tanh) return tanh_all(x, count);
  for (int64_t i = 0; i < count; ++i) x[i] = activate(*this, x[i]);
}

// kRecurrentActivations and ActivationKind have one order.
Activation make_activation(const std::vector<std::string>& names, const std::vector<double>& alphas,
                           const std::vector<double>& betas, double clip, size_t index) {
  const auto found = std::ranges::find(kRecurrentActivations, names.at(index));
  return {static_cast<ActivationKind>(found - std::begin(kRecurrentActivations)),
          static_cast<float>(alphas.at(index)), static_cast<float>(betas.at(index)),
          static_cast<float>(clip)};
}

void lstm_cell(const Cell& cell, float* gates, float* h, float* c, float* scratch) {
  const int64_t n = cell.hidden;
  float *in = gates, *out = gates + n, *keep = gates + 2 * n, *next = gates + 3 * n;
  if (cell.peephole != nullptr) {
    add_product(in, cell.peephole, c, n);
    add_product(keep, cell.peephole + 2 * n, c, n);
  }
  cell.activations[0].apply(in, n);
  if (cell.input_forget)
    complement(in, keep, n);
  else
    cell.activations[0].apply(keep, n);
  cell.activations[1].apply(next, n);
  blend(keep, c, in, next, n);
  if (cell.peephole != nullptr) add_product(out, cell.peephole + n, c, n);
  cell.activations[0].apply(out, n);
  std::copy_n(c, n, scratch);
  cell.activations[2].apply(scratch, n);
  multiply_all(out, scratch, h, n);
}

void rnn_cell(const Cell& cell, float* gates, float* h) {
  cell.activations[0].apply(gates, cell.hidden);
  std::copy_n(gates, cell.hidden, h);
}

void gru_gates(const Cell& cell, float* gates) { cell.activations[0].apply(gates, 2 * cell.hidden); }

void gru_reset_state(const Cell& cell, const float* gates, const float* h, float* reset) {
  multiply_all(gates + cell.hidden, h, reset, cell.hidden);
}

void gru_reset_product(const Cell& cell, float* gates, const float* product, const float* x) {
  float* candidate = gates + 2 * cell.hidden;
  std::copy_n(x, cell.hidden, candidate);
  add_product(candidate, gates + cell.hidden, product, cell.hidden);
}

void gru_cell(const Cell& cell, float* gates, float* h) {
  const int64_t n = cell.hidden;
  float *update = gates, *rest = gates + n, *candidate = gates + 2 * n;
  cell.activations[1].apply(candidate, n);
  complement(update, rest, n);
  blend(update, h, rest, candidate, n);
}

}  // namespace ingot::cpu
