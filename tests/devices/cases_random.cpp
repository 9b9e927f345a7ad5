// Random numbers: the generator is defined, so every device draws the same.
#include "tests/devices/table.h"

namespace ingot::devices {

void add_random_cases(Table& table) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16})
    for (const Shape& shape : {Shape{}, Shape{37}, Shape{3, 5, 7}}) {
      auto uniform = [=](GraphMaker& m) {
        return std::vector<Value>{
            m.g.random_uniform(m.ints(shape), {.dtype = dtype, .low = -1, .high = 3, .seed = 7})};
      };
      table.push_back({fmt::format("random_uniform {} {}", to_string(dtype), to_string(shape)), uniform,
                       Closeness::rounding});
      auto normal = [=](GraphMaker& m) {
        return std::vector<Value>{
            m.g.random_normal(m.ints(shape), {.dtype = dtype, .mean = 1, .scale = 2, .seed = 7})};
      };
      table.push_back({fmt::format("random_normal {} {}", to_string(dtype), to_string(shape)), normal,
                       Closeness::composed});
    }
  auto multinomial = [](GraphMaker& m) {
    return std::vector<Value>{
        m.g.multinomial(m.tensor(DType::f32, {3, 7}, {-1, 1}), {.sample_size = 9, .seed = 3})};
  };
  table.push_back({"multinomial", multinomial, Closeness::exact, {Source::plain, Source::transposed}});
}

}  // namespace ingot::devices
