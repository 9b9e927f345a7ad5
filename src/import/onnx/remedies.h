#pragma once

namespace ingot {

// What to do about a model that breaks a rule: the last sentence of an error.
constexpr const char* kDamagedOnnx = "The file is damaged or is no ONNX file: export or download it again.";
constexpr const char* kInvalidOnnx =
    "The model contradicts itself: check it with onnx.checker, then correct or export it again.";
constexpr const char* kUnsupportedOnnx =
    "Export it with another opset or other options; docs/onnx_coverage.md lists what is supported.";

}  // namespace ingot
