#include "import/onnx/model_summary.h"

#include <set>

#include "base/checked.h"
#include "base/mapped_file.h"
#include "import/onnx/model_context.h"
#include "import/onnx/op_table.h"
#include "import/onnx/wire.h"
#include "ingot/error.h"

namespace ingot {
namespace {

using OpCounts = std::map<std::pair<std::string_view, std::string_view>, int64_t>;

void count_nodes(const std::vector<OnnxNode>& nodes, OpCounts& counts) {
  for (const OnnxNode& node : nodes) {
    ++counts[{normal_domain(node.domain), node.op_type}];
    for (const OnnxAttribute& a : node.attributes)
      for (const OnnxGraph& body : a.graphs) count_nodes(body.nodes, counts);
  }
}

std::vector<OnnxOpUse> op_uses(const OnnxModel& model) {
  OpCounts counts;
  count_nodes(model.graph.nodes, counts);
  std::set<std::pair<std::string_view, std::string_view>> functions;
  for (const OnnxFunction& f : model.functions) {
    functions.emplace(normal_domain(f.domain), f.name);
    count_nodes(f.nodes, counts);
  }
  std::vector<OnnxOpUse> out;
  for (const auto& [key, count] : counts) {
    const bool is_function = functions.contains(key);
    out.push_back({std::string(key.first), std::string(key.second), count, is_function,
                   is_function || onnx_op_table().contains(key)});
  }
  std::ranges::stable_sort(out, std::greater{}, &OnnxOpUse::count);
  return out;
}

std::string type_text(const OnnxValueInfo& value) {
  try {
    GraphBuilder scratch;
    return to_string(type_from_onnx(value.type, value.name, scratch));
  } catch (const Error& e) {
    return std::string("not supported: ") + e.what();
  }
}

}  // namespace

bool OnnxModelSummary::all_supported() const {
  return std::ranges::all_of(ops, [](const OnnxOpUse& use) { return use.supported; });
}

OnnxModelSummary summarize_onnx(const std::string& path) {
  const auto file = MappedFile::open(path, "ONNX model");
  const OnnxModel model = parse_onnx_model(file->bytes(), path);
  OnnxModelSummary out;
  out.graph_name = model.graph.name;
  out.ir_version = model.ir_version;
  out.producer = fmt::format("{}{}{}", printable(model.producer_name),
                             model.producer_version.empty() ? "" : " ", printable(model.producer_version));
  for (const OnnxOpset& o : model.opsets) out.opsets[std::string(normal_domain(o.domain))] = o.version;
  out.ops = op_uses(model);
  for (const OnnxOpUse& use : out.ops) out.node_count += use.count;
  std::set<std::string_view> initialized;
  for (const OnnxTensor& t : model.graph.initializers) {
    initialized.insert(t.name);
    ++out.initializer_count;
    out.initializer_elements =
        checked_add(out.initializer_elements, checked_product(t.dims, "ONNX initializer"), "initializers");
  }
  for (const OnnxValueInfo& v : model.graph.inputs)
    if (!initialized.contains(v.name)) out.inputs[std::string(v.name)] = type_text(v);
  for (const OnnxValueInfo& v : model.graph.outputs) out.outputs[std::string(v.name)] = type_text(v);
  for (const OnnxProperty& p : model.metadata) out.metadata[std::string(p.key)] = p.value;
  return out;
}

}  // namespace ingot
