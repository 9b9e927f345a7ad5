#include <filesystem>
#include <set>

#include "base/guarded.h"
#include "base/mapped_file.h"
#include "import/onnx/aligned_copies.h"
#include "import/onnx/graph_importer.h"
#include "import/onnx/op_table.h"
#include "import/onnx/remedies.h"
#include "ingot/error.h"
#include "ingot/import.h"

namespace ingot {
namespace {

void collect_unsupported(const OnnxModelContext& model, const std::vector<OnnxNode>& nodes,
                         std::map<std::string, std::string>& missing) {
  for (const OnnxNode& node : nodes) {
    for (const OnnxAttribute& a : node.attributes)
      for (const OnnxGraph& body : a.graphs) collect_unsupported(model, body.nodes, missing);
    if (model.find_function(node) != nullptr) continue;
    std::string_view domain = normal_domain(node.domain);
    if (onnx_op_table().contains({domain, node.op_type})) continue;
    missing.emplace(fmt::format("{}{}{}", domain, domain.empty() ? "" : ".", node.op_type),
                    node.name.empty() ? OnnxGraphImporter::first_output(node) : std::string(node.name));
  }
}

void refuse_unsupported(const OnnxModelContext& model, const OnnxOpsets& opsets) {
  std::map<std::string, std::string> missing;
  collect_unsupported(model, model.model.graph.nodes, missing);
  for (const OnnxFunction& f : model.model.functions) collect_unsupported(model, f.nodes, missing);
  if (missing.empty()) return;
  std::vector<std::string> list;
  for (const auto& [op, node] : missing) list.push_back(fmt::format("{} (first at node '{}')", op, node));
  auto standard = opsets.find("");
  throw Error(
      {.code = ErrorCode::unsupported,
       .object = "ONNX model",
       .name = model.source.file,
       .expected = "ops of docs/onnx_coverage.md",
       .observed = fmt::format("{} unsupported at opset {}: {}", missing.size(),
                               standard == opsets.end() ? 1 : standard->second, fmt::join(list, ", ")),
       .remedy = kUnsupportedOnnx});
}

constexpr int64_t kMostUses = 20;  // of a node of the file, in the mean, before a model counts as hostile

int64_t count_nodes(const std::vector<OnnxNode>& nodes) {
  auto count = static_cast<int64_t>(nodes.size());
  for (const OnnxNode& node : nodes)
    for (const OnnxAttribute& a : node.attributes)
      for (const OnnxGraph& body : a.graphs) count += count_nodes(body.nodes);
  return count;
}

int64_t count_nodes(const OnnxModel& model) {
  int64_t count = count_nodes(model.graph.nodes);
  for (const OnnxFunction& f : model.functions) count += count_nodes(f.nodes);
  return count;
}

Graph import_model(const OnnxModel& model, OnnxSource source) {
  OnnxModelContext context{model, std::move(source), {}};
  context.node_limit += kMostUses * count_nodes(model);
  for (const OnnxFunction& f : model.functions)
    context.functions[{normal_domain(f.domain), f.name, f.overload}] = &f;
  OnnxOpsets opsets;
  for (const OnnxOpset& o : model.opsets) opsets[normal_domain(o.domain)] = o.version;
  refuse_unsupported(context, opsets);
  return OnnxGraphImporter(context, std::move(opsets), {}, 0).import_main(model.graph);
}

// `drop` frees the physical memory of bytes of the model that have been copied.
Graph import_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                   const std::string& name, const std::string& folder,
                   const OnnxAlignedCopies::Release& drop) {
  return guarded("ONNX model", name, [&] {
    OnnxModel model = parse_onnx_model(bytes, name);
    std::unique_ptr<OnnxExternalFiles> external;
    if (!folder.empty()) external = std::make_unique<OnnxExternalFiles>(folder);
    OnnxAlignedCopies copies([&](std::span<const std::byte> copied) {
      drop(copied);
      if (external) external->drop(copied);
    });
    return import_model(model, {name, std::move(owner), external.get(), &copies});
  });
}

}  // namespace

Graph import_onnx(const std::string& path) {
  auto file = MappedFile::open(path, "ONNX model");
  std::string folder = std::filesystem::path(path).parent_path().string();
  return import_bytes(file->bytes(), file, path, folder.empty() ? "." : folder,
                      [&](std::span<const std::byte> copied) { file->drop(copied); });
}

Graph import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                  const std::string& name, const std::string& folder) {
  return import_bytes(bytes, std::move(owner), name, folder, [](std::span<const std::byte>) {});
}

}  // namespace ingot
