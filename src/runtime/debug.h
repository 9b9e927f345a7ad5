#pragma once

#include <functional>
#include <mutex>

#include "device/device.h"
#include "ingot/debug.h"
#include "ingot/runtime.h"

namespace ingot {

// The debug tensors of an engine, and the program that shows them: another one, so that the program of every
// day is as if they were not there. It is made when it is first wanted.
class DebugTensors {
 public:
  using Compile = std::function<std::shared_ptr<const Program>(std::shared_ptr<const Graph>)>;

  // Null for a graph without any. Throws Error(corrupt) for marks that do not fit the graph.
  static std::unique_ptr<DebugTensors> of(const Graph& graph);

  bool has(const std::string& name) const;
  // A graph with these outputs, but without debug tensors.
  Graph without(const Graph& graph) const;
  void set_compile(Compile compile) { compile_ = std::move(compile); }
  const std::vector<PortInfo>& tensors() const { return tensors_; }
  // By output of the graph with them: which output of the other it is; none for a debug tensor.
  const std::vector<std::optional<size_t>>& outputs() const { return outputs_; }
  const std::string& name(size_t output) const { return names_[output]; }
  // Of this graph, compiled anew where it is not that of the call before.
  std::shared_ptr<const Program> program(std::shared_ptr<const Graph> graph) const;

 private:
  std::vector<std::string> names_;  // of all outputs
  std::vector<PortInfo> tensors_;
  std::vector<std::optional<size_t>> outputs_;
  Compile compile_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Graph> graph_;
  mutable std::shared_ptr<const Program> program_;
};

// Shows debug tensors to a listener and passes all other outputs on.
class DebugSink : public OutputSink {
 public:
  DebugSink(const DebugTensors& debug, const DebugListener& listener, OutputSink& rest)
      : debug_(debug), listener_(listener), rest_(rest) {}

  std::optional<std::span<std::byte>> memory(size_t index, const Shape& shape) override;
  std::optional<size_t> in_place_of(size_t index) const override;
  void deliver(size_t index, Datum output) override;

 private:
  const DebugTensors& debug_;
  const DebugListener& listener_;
  OutputSink& rest_;
};

}  // namespace ingot
