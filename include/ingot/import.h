#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingot/export.h"
#include "ingot/graph.h"

namespace ingot {

// Reads an ONNX model: opset 1 to 27, external data beside the file, functions, control flow, quantised ops.
// Weights stay in the mapped file, which the graph keeps alive; those at addresses that do not suit their
// type, as is usual inside the model file, are copied once. Throws Error: not_found, corrupt (names the
// field and offset), unsupported (lists every unsupported op of the model at once). Thread-safe.
INGOT_API Graph import_onnx(const std::string& path);

// The same for bytes in memory, which must be kept alive by `owner` if the graph outlives this call. External
// data is looked up in `folder`; empty: refused. `name` stands for the file in messages.
INGOT_API Graph import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                            const std::string& name, const std::string& folder = {});

}  // namespace ingot
