#pragma once

#include "device/cpu/routines/operands.h"
#include "device/cpu/routines/recurrent_cell.h"

namespace ingot::cpu {

enum class RecurrentKind { rnn, gru, lstm };

// Sizes and attributes of a recurrent layer, and where its parts lie in scratch memory.
struct RecurrentLayer {
  explicit RecurrentLayer(const RoutineCall& call);

  RecurrentKind kind = RecurrentKind::rnn;
  bool linear_before_reset = false;  // GRU
  bool reversed = false;             // of the first direction
  int64_t steps, batch, inputs, hidden, gates, directions;
  int64_t width() const { return gates * hidden; }

  // Products with many rows pay for packing the weights first.
  bool packs_w, packs_r;
  // The products with the inputs are formed for this many steps at a time.
  int64_t segment;
  // Samples that one thread takes through the steps.
  int64_t block;
  int64_t blocks() const { return (batch + block - 1) / block; }

  // In floats from the start of scratch memory, for all directions together.
  int64_t x_at = -1;  // a copy of x, where its rows are not dense
  int64_t w_at, r_at, bias_at, peephole_at, projected_at, gates_at, reset_at, h_at, c_at, total;
  int64_t w_size, r_size;  // of one direction
};

}  // namespace ingot::cpu
