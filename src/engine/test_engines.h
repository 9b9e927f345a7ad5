#pragma once
// For tests: engines in memory, at an address that a reader need not copy from.
#include <span>
#include <vector>

#include "engine/byte_sink.h"
#include "engine/engine_file.h"

namespace ingot {

inline Tensor aligned_copy(std::span<const std::byte> bytes) {
  Tensor copy = Tensor::allocate(DType::u8, {static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), copy.mutable_bytes().begin());
  return copy;
}

inline std::vector<std::byte> engine_bytes(const EngineContent& content) {
  MemorySink sink;
  write_engine(content, sink);
  return sink.take();
}

// `count` bytes that depend on `seed`.
inline Tensor filled(int64_t count, unsigned seed) {
  Tensor t = Tensor::allocate(DType::u8, {count});
  for (size_t i = 0; i < t.bytes().size(); ++i)
    t.mutable_bytes()[i] = static_cast<std::byte>(i * 31 + (i >> 8) * 17 + seed);
  return t;
}

// A graph that gives out constants.
inline Graph graph_of(const std::vector<Tensor>& constants) {
  GraphBuilder g("constants");
  for (size_t i = 0; i < constants.size(); ++i) {
    g.set_origin("weight " + std::to_string(i));
    g.output("out " + std::to_string(i), g.constant(constants[i]));
  }
  return std::move(g).finish();
}

}  // namespace ingot
