#include "tests/conformance/case_data.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "import/onnx/model_context.h"
#include "tensor_io/tensor_file.h"

namespace ingot::conformance {
namespace fs = std::filesystem;
namespace {

void read_tolerances(Case& test) {
  std::ifstream file(test.folder / "data.json");
  if (!file) return;
  auto json = nlohmann::json::parse(file);
  test.rtol = json.value("rtol", test.rtol);
  test.atol = json.value("atol", test.atol);
}

// Files follow the inputs the model declares; those that are initializers may have files too and are skipped.
DataSet read_data_set(const fs::path& folder, const OnnxModel& model, const Graph& graph) {
  size_t files = 0;
  while (fs::exists(folder / fmt::format("input_{}.pb", files))) ++files;
  std::map<std::string, size_t, std::less<>> all, real;
  std::vector<std::string_view> initializers;
  for (const auto& t : model.graph.initializers) initializers.push_back(t.name);
  for (const auto& v : model.graph.inputs) {
    all.emplace(v.name, all.size());
    if (std::ranges::find(initializers, v.name) == initializers.end()) real.emplace(v.name, real.size());
  }
  const auto& index = files > real.size() ? all : real;
  DataSet set;
  for (const Port& p : graph.inputs())
    set.inputs.push_back(read_onnx_datum((folder / fmt::format("input_{}.pb", index.at(p.name))).string(),
                                         graph.type(p.value)));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    fs::path path = folder / fmt::format("output_{}.pb", i);
    if (!fs::exists(path)) {
      set.outputs.emplace_back();
      continue;
    }
    GraphBuilder scratch;
    set.outputs.push_back(
        read_onnx_datum(path.string(), type_from_onnx(model.graph.outputs[i].type, "output", scratch)));
  }
  return set;
}

void add_cases(const fs::path& folder, std::string_view kind, std::vector<Case>& cases) {
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    Case test{fmt::format("{}/{}", kind, name), entry.path() / "model.onnx", entry.path()};
    read_tolerances(test);
    cases.push_back(std::move(test));
  }
}

}  // namespace

std::vector<Case> list_cases() {
  const char* cache = std::getenv("INGOT_MODELS");
  std::vector<Case> cases;
  if (cache == nullptr) return cases;
  for (const char* kind : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    add_cases(fs::path(cache) / "onnx-1.22.0" / kind, kind, cases);
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

std::vector<Case> list_peer_cases() {
  std::vector<Case> cases;
  add_cases(INGOT_TEST_DIR "/peer", "peer", cases);
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

std::vector<DataSet> read_data_sets(const Case& test, const Graph& graph) {
  auto file = MappedFile::open(test.model.string());
  OnnxModel model = parse_onnx_model(file->bytes(), test.model.string());
  std::vector<DataSet> sets;
  for (int i = 0; fs::exists(test.folder / fmt::format("test_data_set_{}", i)); ++i)
    sets.push_back(read_data_set(test.folder / fmt::format("test_data_set_{}", i), model, graph));
  return sets;
}

}  // namespace ingot::conformance
