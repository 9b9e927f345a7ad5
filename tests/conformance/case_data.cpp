#include "tests/conformance/case_data.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "import/onnx/model_context.h"

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

Tensor read_tensor(const OnnxTensor& tensor, const fs::path& path, std::shared_ptr<const void> owner) {
  return tensor_from_onnx(tensor, {path.string(), std::move(owner), nullptr}).aligned();
}

Datum read_sequence(const OnnxValue& value, const fs::path& path, const std::shared_ptr<const void>& owner) {
  Sequence out;
  for (const OnnxTensor& t : value.tensors) out.push_back(read_tensor(t, path, owner));
  return out;
}

Datum read_datum(const fs::path& path, const Type& type) {
  if (fs::file_size(path) == 0) return type.kind == Type::Kind::sequence ? Datum(Sequence{}) : Datum();
  auto file = MappedFile::open(path.string());
  switch (type.kind) {
    case Type::Kind::tensor: return read_tensor(parse_onnx_tensor(file->bytes(), path.string()), path, file);
    case Type::Kind::sequence:
      return read_sequence(parse_onnx_sequence(file->bytes(), path.string()), path, file);
    case Type::Kind::optional: {
      OnnxValue value = parse_onnx_optional(file->bytes(), path.string());
      if (!value.tensors.empty()) return read_tensor(value.tensors[0], path, file);
      if (!value.values.empty()) return read_sequence(value.values[0], path, file);
      return Datum();
    }
  }
  return Datum();
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
    set.inputs.push_back(
        read_datum(folder / fmt::format("input_{}.pb", index.at(p.name)), graph.type(p.value)));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    fs::path path = folder / fmt::format("output_{}.pb", i);
    if (!fs::exists(path)) {
      set.outputs.emplace_back();
      continue;
    }
    GraphBuilder scratch;
    set.outputs.push_back(read_datum(path, type_from_onnx(model.graph.outputs[i].type, "output", scratch)));
  }
  return set;
}

}  // namespace

std::vector<Case> list_cases() {
  const char* cache = std::getenv("INGOT_MODELS");
  std::vector<Case> cases;
  if (cache == nullptr) return cases;
  for (const char* kind : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    fs::path folder = fs::path(cache) / "onnx-1.22.0" / kind;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      Case test{fmt::format("{}/{}", kind, entry.path().filename().string()), entry.path() / "model.onnx",
                entry.path()};
      read_tolerances(test);
      cases.push_back(std::move(test));
    }
  }
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
