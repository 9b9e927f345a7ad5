#pragma once

#include "import/onnx/messages.h"
#include "import/onnx/wire.h"

namespace ingot {

// One read() per message. Its cases are the field table: number, name in the schema, where the value goes.
void read(WireReader& r, OnnxProperty& out);
void read(WireReader& r, OnnxOpset& out);
void read(WireReader& r, OnnxTensor& out);
void read(WireReader& r, OnnxSparseTensor& out);
void read(WireReader& r, OnnxType& out);
void read(WireReader& r, OnnxValueInfo& out);
void read(WireReader& r, OnnxAttribute& out);
void read(WireReader& r, OnnxNode& out);
void read(WireReader& r, OnnxGraph& out);
void read(WireReader& r, OnnxFunction& out);
void read(WireReader& r, OnnxModel& out);
void read(WireReader& r, OnnxValue& out);
void read(WireReader& r, OnnxDim& out);
void read(WireReader& r, std::vector<OnnxDim>& out);  // TensorShapeProto

template <class T>
void append(WireReader& r, const char* name, std::vector<T>& out) {
  WireReader message = r.message({name, out.size()});
  read(message, out.emplace_back());
}

// A field that may occur once. Protobuf would merge a second one into the first; no writer produces that.
template <class T>
void append_once(WireReader& r, const char* name, std::vector<T>& out) {
  WireReader message = r.message(name);
  if (!out.empty()) r.fail(name, "one of them", "a second one");
  read(message, out.emplace_back());
}

template <class T>
void read_once(WireReader& r, const char* name, T& out, bool& seen) {
  WireReader message = r.message(name);
  if (seen) r.fail(name, "one of them", "a second one");
  seen = true;
  read(message, out);
}

}  // namespace ingot
