#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/test_data.h"
#include "tests/e2e/model_run.h"

// Real models against ONNX Runtime: tests/e2e/testdata/models.json, written by tools/make_model_goldens.py.
namespace ingot {
namespace {

using Json = nlohmann::json;

uint64_t splitmix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <class T>
Tensor make_input(const Json& spec) {
  Shape shape = spec.at("shape");
  auto count = static_cast<size_t>(element_count(shape));
  if (spec.contains("values")) return Tensor::of<T>(shape, spec.at("values").get<std::vector<T>>());
  auto low = spec.at("range")[0].get<double>(), high = spec.at("range")[1].get<double>();
  std::vector<T> out(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = splitmix(spec.at("seed"), i);
    if constexpr (std::is_same_v<T, float>)
      out[i] = static_cast<float>(low + (high - low) * (static_cast<double>(bits >> 40) / (1 << 24)));
    else
      out[i] = static_cast<T>(static_cast<int64_t>(low) +
                              static_cast<int64_t>(bits % static_cast<uint64_t>(high - low)));
  }
  return Tensor::of<T>(shape, out);
}

Datum input(const Json& spec) {
  if (spec.at("dtype") == "f32") return make_input<float>(spec);
  if (spec.at("dtype") == "i32") return make_input<int32_t>(spec);
  return make_input<int64_t>(spec);
}

std::vector<double> as_doubles(const Tensor& t) {
  auto convert = [](auto span) { return std::vector<double>(span.begin(), span.end()); };
  return t.dtype() == DType::f32 ? convert(t.data<float>()) : convert(t.data<int64_t>());
}

// The error allowed is relative to the largest element of the output, as peers are compared.
void expect_output(const Tensor& actual, const Json& expected, double tolerance, const std::string& name) {
  ASSERT_EQ(Json(actual.shape()), expected.at("shape")) << name;
  std::vector<double> values = as_doubles(actual);
  double largest = expected.at("largest");
  size_t step = expected.at("step"), k = 0;
  double worst = 0;
  for (double want : expected.at("values")) worst = std::max(worst, std::fabs(values.at(k++ * step) - want));
  EXPECT_LE(worst, tolerance * std::max(largest, 1e-6)) << name;
}

class ModelTest : public ::testing::TestWithParam<std::tuple<Json, std::string>> {};

TEST_P(ModelTest, EqualsOnnxRuntime) {
  const auto& [test, device] = GetParam();
  std::string path;
  if (test.at("shared").get<bool>()) {
    INGOT_SHARED_MODEL_OR_SKIP(found, test.at("model").get<std::string>());
    path = found;
  } else {
    INGOT_MODEL_OR_SKIP(found, test.at("model").get<std::string>());
    path = found;
  }
  std::map<std::string, Datum> inputs;
  for (const auto& [name, spec] : test.at("inputs").items()) inputs[name] = input(spec);
  auto outputs = build_and_open(path, device)->create_context()->run(inputs);
  for (const auto& [name, expected] : test.at("outputs").items())
    expect_output(outputs.at(name).tensor(), expected, test.at("tolerance"), name);
}

std::vector<Json> cases() {
  Json all = Json::parse(std::ifstream(INGOT_E2E_TESTDATA "/models.json"));
  return all.at("cases");
}

std::string case_name(const ::testing::TestParamInfo<std::tuple<Json, std::string>>& info) {
  std::string name = std::get<0>(info.param).at("model").get<std::string>() + "_" + std::get<1>(info.param);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

bool multiplies_bytes(const Json& test) {
  const auto model = test.at("model").get<std::string>();
  return model.find("int8") != std::string::npos || model.ends_with("hibari.onnx");
}

std::vector<std::tuple<Json, std::string>> cases_at_every_level() {
  std::vector<std::tuple<Json, std::string>> all;
  for (const Json& test : cases())
    for (const auto& level : multiplies_bytes(test) ? byte_level_names() : device_level_names())
      all.emplace_back(test, level);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, ModelTest, ::testing::ValuesIn(cases_at_every_level()), case_name);

}  // namespace
}  // namespace ingot
