#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "import/onnx/external_data.h"
#include "import/onnx/messages.h"
#include "import/onnx/tensor_data.h"
#include "ingot/graph.h"

namespace ingot {

using OnnxOpsets = std::map<std::string_view, int64_t>;  // domain -> version

// "ai.onnx" and "" are the same domain.
std::string_view normal_domain(std::string_view domain);

// Domain, name and overload of a function.
using OnnxFunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

// What all graphs of one model share while it is imported.
struct OnnxModelContext {
  const OnnxModel& model;
  OnnxSource source;
  std::map<OnnxFunctionKey, const OnnxFunction*> functions;
  int64_t node_limit = 100'000;
  mutable int64_t imported_nodes = 0;  // functions and bodies count as often as they are imported

  const OnnxFunction* find_function(const OnnxNode& node) const;
  // Throws Error(unsupported) where functions that call functions unfold into too many nodes.
  void count_node() const;
};

// Sizes without a value or a name become fresh symbols of `g`.
Type type_from_onnx(const OnnxType& type, std::string_view name, GraphBuilder& g);

// Shares the bytes of the source where they need no conversion and are aligned.
Tensor tensor_from_onnx(const OnnxTensor& tensor, const OnnxSource& source);

}  // namespace ingot
