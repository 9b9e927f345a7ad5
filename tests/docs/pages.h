#pragma once

#include <string>

namespace ingot::docs {

std::string ops_page();   // docs/ops.md, from the op table
std::string onnx_page();  // docs/onnx_coverage.md, from the importer's table

}  // namespace ingot::docs
