#include <fmt/format.h>

#include "import/onnx/op_table.h"
#include "tests/docs/pages.h"

namespace ingot::docs {

std::string onnx_page() {
  const OnnxOpTable& table = onnx_op_table();
  std::string page =
      "<!-- Generated from the table of src/import/onnx by tools/make_docs. -->\n# ONNX coverage\n\n"
      "The ONNX ops that `import_onnx` takes, opset 1 to 27. Ops of an opset that is newer than the last "
      "change of an op "
      "mean what that change says. Element types are those of the ops in [ops.md](ops.md) unless stated. A "
      "model with "
      "any other op is refused with one error that lists all of them.\n\n";
  std::map<std::string, size_t> counts;
  for (const auto& [key, entry] : table) ++counts[key.first.empty() ? "ai.onnx" : std::string(key.first)];
  for (const auto& [domain, count] : counts) page += fmt::format("- `{}`: {} ops\n", domain, count);
  page += "\n| domain | op | since opset | types | limits |\n|---|---|---|---|---|\n";
  for (const auto& [key, entry] : table)
    page += fmt::format("| {} | {} | {} | {} | {} |\n", key.first.empty() ? "ai.onnx" : key.first, key.second,
                        entry.first_opset, entry.types, entry.limits);
  return page;
}

}  // namespace ingot::docs
