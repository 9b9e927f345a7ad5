#pragma once

#include "device/device.h"
#include "ingot/runtime.h"
#include "runtime/context_state.h"
#include "runtime/engine_state.h"

namespace ingot {

// Outputs go to memory of the application, checked for size, alignment and overlap. Their shapes are written
// to `shapes`.
class BoundOutputs : public OutputSink {
 public:
  BoundOutputs(const Engine::State& engine, const Bindings& bindings, std::vector<Shape>& shapes)
      : engine_(engine), bindings_(bindings), shapes_(shapes) {
    shapes_.resize(engine.outputs.size());
  }

  std::optional<std::span<std::byte>> memory(size_t index, const Shape& shape) override;
  void deliver(size_t index, Datum output) override;
  std::optional<size_t> in_place_of(size_t index) const override { return bindings_.in_place[index]; }

 private:
  std::byte* allocate(size_t index, const Shape& shape, size_t bytes) const;

  const Engine::State& engine_;
  const Bindings& bindings_;
  std::vector<Shape>& shapes_;
};

// Outputs are kept as the device hands them over.
class KeptOutputs : public OutputSink {
 public:
  explicit KeptOutputs(const std::vector<PortInfo>& ports) : ports_(ports) {}

  std::optional<std::span<std::byte>> memory(size_t, const Shape&) override { return std::nullopt; }
  void deliver(size_t index, Datum output) override { kept_[ports_[index].name] = std::move(output); }
  std::map<std::string, Datum> take() { return std::move(kept_); }

 private:
  const std::vector<PortInfo>& ports_;
  std::map<std::string, Datum> kept_;
};

}  // namespace ingot
