#include "device/cpu/routines/recurrent.h"

#include "device/cpu/copy.h"
#include "device/cpu/routines/cells.h"
#include "device/cpu/routines/table.h"

// Recurrent layers. The products with the inputs do not depend on the states, so they are formed for many
// steps at once; then every direction and block of samples goes through those steps on its own.
namespace ingot::cpu {
namespace {

constexpr int64_t kSharedProduct = int64_t{1}
                                   << 18;  // weights from which on one product is worth several threads
constexpr int64_t kProjectionRows = 16;    // that a thread takes at a time

class Recurrence {
 public:
  explicit Recurrence(const RoutineCall& call)
      : call_(call), layer_(call), floats_(reinterpret_cast<float*>(call.scratch)), x_(call.in[0]) {}

  void run() {
    prepare();
    for (int64_t first = 0; first < layer_.steps; first += layer_.segment) {
      const int64_t count = std::min(layer_.segment, layer_.steps - first);
      project(first, count);
      const int64_t blocks = layer_.blocks();
      call_.pool.parallel_for(layer_.directions * blocks, 1, [&](int64_t unit, int64_t, int) {
        for (int64_t p = 0; p < count; ++p) step(unit / blocks, unit % blocks * layer_.block, p, first + p);
      });
    }
    write_last(1, layer_.h_at);
    if (layer_.kind == RecurrentKind::lstm) write_last(2, layer_.c_at);
  }

 private:
  struct Side {  // one direction
    Cell cell;
    Weights w, r, r_candidate;  // r_candidate: of a GRU
    const float* bias;          // of the products with the inputs
    const float* state_bias;    // of a GRU's candidate, where it is added before the reset
    bool reversed;
  };

  // --- once ---

  void prepare() {
    if (layer_.x_at >= 0) {
      x_ = dense_view(DType::f32, layer_.steps, layer_.batch, layer_.inputs, floats_ + layer_.x_at);
      copy(call_.in[0], x_, call_.pool);
    }
    for (int64_t d = 0; d < layer_.directions; ++d) {
      Side& side = sides_[static_cast<size_t>(d)];
      side.reversed = layer_.reversed || d == 1;
      set_cell(side, d);
      set_weights(side, d);
      set_bias(side, d);
    }
    const size_t first_state = 5;
    set_state(first_state, layer_.h_at);
    if (layer_.kind == RecurrentKind::lstm) set_state(first_state + 1, layer_.c_at);
  }

  static View dense_view(DType dtype, int64_t a, int64_t b, int64_t c, float* data) {
    return {.dtype = dtype,
            .rank = 3,
            .sizes = {a, b, c},
            .strides = {b * c, c, 1},
            .data = reinterpret_cast<std::byte*>(data)};
  }

  template <class A>
  void set_activations(Cell& cell, const A& a, int64_t direction) {
    const size_t count = a.activations.size() / static_cast<size_t>(layer_.directions);
    for (size_t i = 0; i < count; ++i)
      cell.activations[i] = make_activation(a.activations, a.alphas, a.betas, a.clip,
                                            static_cast<size_t>(direction) * count + i);
  }

  void set_cell(Side& side, int64_t d) {
    side.cell.hidden = layer_.hidden;
    const Node& node = call_.node;
    if (layer_.kind == RecurrentKind::rnn) return set_activations(side.cell, node.as<RnnAttrs>(), d);
    if (layer_.kind == RecurrentKind::gru) return set_activations(side.cell, node.as<GruAttrs>(), d);
    set_activations(side.cell, node.as<LstmAttrs>(), d);
    side.cell.input_forget = node.as<LstmAttrs>().input_forget;
    if (has(call_, 7))
      side.cell.peephole = read_row(call_.in[7], d, floats_ + layer_.peephole_at + d * 3 * layer_.hidden);
  }

  static const float* read_row(const View& view, int64_t row, float* to) {
    const float* from = elements<const float>(view) + row * view.strides[0];
    for (int64_t i = 0; i < view.sizes[1]; ++i) to[i] = from[i * view.strides[1]];
    return to;
  }

  static Weights weights(const View& view, int64_t direction, int64_t first, int64_t rows, float* packed) {
    const float* from = elements<const float>(view) + direction * view.strides[0] + first * view.strides[1];
    if (packed != nullptr) return pack(from, view.strides[1], view.strides[2], rows, view.sizes[2], packed);
    return {.data = from, .rows = rows, .depth = view.sizes[2], .row_stride = view.strides[1]};
  }

  void set_weights(Side& side, int64_t d) {
    float* w = layer_.packs_w ? floats_ + layer_.w_at + d * layer_.w_size : nullptr;
    float* r = layer_.packs_r ? floats_ + layer_.r_at + d * layer_.r_size : nullptr;
    side.w = weights(call_.in[1], d, 0, layer_.width(), w);
    if (layer_.kind != RecurrentKind::gru) {
      side.r = weights(call_.in[2], d, 0, layer_.width(), r);
      return;
    }
    side.r = weights(call_.in[2], d, 0, 2 * layer_.hidden, r);
    if (r != nullptr) r += side.r.packed_size();
    side.r_candidate = weights(call_.in[2], d, 2 * layer_.hidden, layer_.hidden, r);
  }

  // Both halves of the bias are one where nothing comes between their additions.
  void set_bias(Side& side, int64_t d) {
    if (!has(call_, 3)) return;
    const int64_t width = layer_.width();
    float* bias = floats_ + layer_.bias_at + d * 2 * width;
    read_row(call_.in[3], d, bias);
    side.bias = bias;
    const bool apart = layer_.kind == RecurrentKind::gru && layer_.linear_before_reset;
    const int64_t joined = apart ? 2 * layer_.hidden : width;
    for (int64_t i = 0; i < joined; ++i) bias[i] += bias[width + i];
    if (apart) side.state_bias = bias + width + joined;
  }

  void set_state(size_t operand, int64_t at) {
    const View to = dense_view(DType::f32, layer_.directions, layer_.batch, layer_.hidden, floats_ + at);
    const float zero = 0;
    if (has(call_, operand))
      copy(call_.in[operand], to, call_.pool);
    else
      fill(reinterpret_cast<const std::byte*>(&zero), to, call_.pool);
  }

  // --- per segment ---

  int64_t time(const Side& side, int64_t step) const {
    return side.reversed ? layer_.steps - 1 - step : step;
  }
  float* projected(int64_t d, int64_t step_in_segment, int64_t sample) const {
    return floats_ + layer_.projected_at +
           ((d * layer_.segment + step_in_segment) * layer_.batch + sample) * layer_.width();
  }

  // The products with the inputs of `count` steps.
  void project(int64_t first, int64_t count) {
    const int64_t grain = std::max<int64_t>(kProjectionRows / std::max<int64_t>(layer_.batch, 1), 1);
    const int64_t chunks = (count + grain - 1) / grain;
    call_.pool.parallel_for(layer_.directions * chunks, 1, [&](int64_t unit, int64_t, int) {
      const int64_t d = unit / chunks, begin = unit % chunks * grain, end = std::min(begin + grain, count);
      const Side& side = sides_[static_cast<size_t>(d)];
      const Rows base = {side.bias, 0};
      const int64_t towards = side.reversed ? -x_.strides[0] : x_.strides[0];
      auto rows = [&](int64_t p) {
        return elements<const float>(x_) + time(side, first + p) * x_.strides[0];
      };
      if (layer_.batch == 1)
        return product(side.w, {rows(begin), towards}, base, projected(d, begin, 0), end - begin);
      for (int64_t p = begin; p < end; ++p)
        product(side.w, {rows(p), x_.strides[1]}, base, projected(d, p, 0), layer_.batch);
    });
  }

  // Writes rows `width()` apart; large ones are shared out. Each panel is the same whoever computes it.
  void product(const Weights& weights, Rows x, Rows base, float* out, int64_t count) {
    const int64_t panels = weights.panels();
    if (weights.rows * weights.depth < kSharedProduct)
      return multiply(weights, x, base, out, layer_.width(), count, 0, panels);
    const int64_t grain = std::max<int64_t>(kSharedProduct / 4 / (Weights::kPanel * weights.depth), 1);
    call_.pool.parallel_for(panels, grain, [&](int64_t begin, int64_t end, int) {
      multiply(weights, x, base, out, layer_.width(), count, begin, end);
    });
  }

  // One step of one block of samples.
  void step(int64_t d, int64_t sample, int64_t step_in_segment, int64_t step) {
    const Side& side = sides_[static_cast<size_t>(d)];
    const int64_t count = std::min(layer_.block, layer_.batch - sample), row = d * layer_.batch + sample;
    const int64_t hidden = layer_.hidden, width = layer_.width();
    const Rows x = {projected(d, step_in_segment, sample), width};
    float* gates = floats_ + layer_.gates_at + row * width;
    float *h = floats_ + layer_.h_at + row * hidden, *c = floats_ + layer_.c_at + row * hidden;
    float* spare = floats_ + layer_.reset_at + row * hidden;
    product(side.r, {h, hidden}, x, gates, count);
    if (layer_.kind == RecurrentKind::gru) finish_gru_gates(side, x, gates, h, spare, count);
    const int64_t t = time(side, step);
    for (int64_t i = 0; i < count; ++i) {
      const bool alive = !has(call_, 4) || t < integer_at(call_.in[4], sample + i);
      if (alive) cell(side.cell, gates + i * width, h + i * hidden, c + i * hidden, spare + i * hidden);
      write_step(t, d, sample + i, alive ? h + i * hidden : nullptr);
    }
  }

  void finish_gru_gates(const Side& side, const Rows& x, float* gates, const float* h, float* spare,
                        int64_t count) {
    const int64_t hidden = layer_.hidden, width = layer_.width();
    float* candidate = gates + 2 * hidden;
    const Rows inputs = {x.data + 2 * hidden, width};
    for (int64_t i = 0; i < count; ++i) gru_gates(side.cell, gates + i * width);
    if (layer_.linear_before_reset) {
      product(side.r_candidate, {h, hidden}, {side.state_bias, 0}, candidate, count);
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(candidate + i * width, hidden, spare + i * hidden);
        gru_reset_product(side.cell, gates + i * width, spare + i * hidden, inputs.data + i * width);
      }
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      gru_reset_state(side.cell, gates + i * width, h + i * hidden, spare + i * hidden);
    product(side.r_candidate, {spare, hidden}, inputs, candidate, count);
  }

  void cell(const Cell& cell, float* gates, float* h, float* c, float* spare) const {
    switch (layer_.kind) {
      case RecurrentKind::rnn: return rnn_cell(cell, gates, h);
      case RecurrentKind::gru: return gru_cell(cell, gates, h);
      case RecurrentKind::lstm: return lstm_cell(cell, gates, h, c, spare);
    }
  }

  // --- results ---

  // Past its length a sample's output is zero.
  void write_step(int64_t t, int64_t d, int64_t sample, const float* h) const {
    const View& y = call_.out[0];
    if (is_absent(y)) return;
    float* to = elements<float>(y) + t * y.strides[0] + d * y.strides[1] + sample * y.strides[2];
    for (int64_t i = 0; i < layer_.hidden; ++i) to[i * y.strides[3]] = h != nullptr ? h[i] : 0;
  }

  void write_last(size_t output, int64_t at) {
    if (is_absent(call_.out[output])) return;
    copy(dense_view(DType::f32, layer_.directions, layer_.batch, layer_.hidden, floats_ + at),
         call_.out[output], call_.pool);
  }

  const RoutineCall& call_;
  const RecurrentLayer layer_;
  float* const floats_;
  View x_;
  std::array<Side, 2> sides_ = {};
};

bool supports(const RoutineCall& call) { return moves_cells(call) && call.in[0].dtype == DType::f32; }

int64_t scratch_bytes(const RoutineCall& call) {
  return RecurrentLayer(call).total * static_cast<int64_t>(sizeof(float));
}

void run(const RoutineCall& call) { Recurrence(call).run(); }

}  // namespace

void add_recurrent_routines(RoutineTable& t) {
  for (Op op : {Op::Rnn, Op::Gru, Op::Lstm})
    t[op] = {.supports = supports, .scratch_bytes = scratch_bytes, .run = run};
}

}  // namespace ingot::cpu
