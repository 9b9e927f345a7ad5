#pragma once

#include <array>
#include <string>
#include <vector>

#include "device/cpu/routines/product.h"

// The element-wise part of recurrent layers, for one sample and one step.
namespace ingot::cpu {

enum class ActivationKind : uint8_t {
  sigmoid,
  tanh,
  relu,
  affine,
  leaky_relu,
  thresholded_relu,
  scaled_tanh,
  hard_sigmoid,
  elu,
  softsign,
  softplus
};

struct Activation {
  ActivationKind kind = ActivationKind::sigmoid;
  float alpha = 0, beta = 0, clip = 0;  // clip: applied before, where above 0

  void apply(float* x, int64_t count) const;
};

// `index` counts through the lists of the attributes.
Activation make_activation(const std::vector<std::string>& names, const std::vector<double>& alphas,
                           const std::vector<double>& betas, double clip, size_t index);

// What a cell is made of. Gates lie one after the other, `hidden` numbers each: i, o, f, c (LSTM), z, r, h
// (GRU).
struct Cell {
  int64_t hidden = 0;
  std::array<Activation, 3> activations = {};
  const float* peephole = nullptr;  // i, o, f; LSTM
  bool input_forget = false;        // LSTM: the forget gate is what the input gate leaves
};

// From the gates before activation to the next states. `gates` is overwritten; `scratch` has `hidden`
// numbers.
void lstm_cell(const Cell& cell, float* gates, float* h, float* c, float* scratch);
void rnn_cell(const Cell& cell, float* gates, float* h);
// GRU in parts, since the candidate may need the reset gate for its own product. z and r are activated in
// `gates`.
void gru_gates(const Cell& cell, float* gates);
void gru_reset_state(const Cell& cell, const float* gates, const float* h, float* reset);  // r * h
void gru_reset_product(const Cell& cell, float* gates, const float* product,
                       const float* x);  // h gate: x + r * product
void gru_cell(const Cell& cell, float* gates, float* h);

}  // namespace ingot::cpu
