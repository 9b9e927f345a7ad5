// Fourier transforms.
#include "tests/devices/table.h"

namespace ingot::devices {
namespace {

Value scalar(GraphMaker& m, int64_t value) { return m.constant(Tensor::of<int64_t>({}, {value})); }
Value real(GraphMaker& m, float value) { return m.constant(Tensor::of<float>({}, {value})); }

void add_transforms(Table& table) {
  for (int64_t n : {1, 2, 12, 16, 67, 64})
    for (DType dtype : {DType::f32, DType::f64})
      for (int form = 0; form < 3; ++form) {
        auto build = [=](GraphMaker& m) {
          const Value x = m.tensor(dtype, {3, n, form == 1 ? 2 : 1}, {-1, 1});
          return std::vector<Value>{
              m.g.dft(x, {}, {}, {.axis = 1, .inverse = form == 1, .one_sided = form == 2})};
        };
        table.push_back({fmt::format("dft {} of {} form {}", to_string(dtype), n, form), build,
                         Closeness::composed, plain_and_one_more(table.size())});
      }
}

}  // namespace

void add_signal_cases(Table& table) {
  add_transforms(table);
  for (bool one_sided : {false, true}) {
    auto build = [=](GraphMaker& m) {
      const Value signal = m.tensor(DType::f32, {2, 120, 1}, {-1, 1}),
                  window = m.tensor(DType::f32, {16}, {0, 1});
      return std::vector<Value>{m.g.stft(signal, scalar(m, 7), window, {}, {.one_sided = one_sided})};
    };
    table.push_back(
        {fmt::format("stft{}", one_sided ? " one_sided" : ""), build, Closeness::composed, all_sources()});
  }
  auto mel = [](GraphMaker& m) {
    return std::vector<Value>{
        m.g.mel_weight_matrix(scalar(m, 8), scalar(m, 256), scalar(m, 16000), real(m, 0), real(m, 8000))};
  };
  table.push_back({"mel_weight_matrix", mel, Closeness::composed});
}

}  // namespace ingot::devices
