#pragma once

#include <map>
#include <mutex>

#include "device/cpu/parts.h"
#include "device/cpu/plan.h"
#include "device/cpu/plan_builder.h"
#include "device/device.h"

namespace ingot::cpu {

// The memory that plans of one part need, by the shapes of its inputs. Finds out by planning without making
// kernels or packing weights. Thread-safe.
class PartNeeds {
 public:
  PartNeeds(const Part& part, const Workshop& workshop) : part_(part), workshop_(workshop) {}

  MemoryNeed find(const std::vector<Shape>& shapes);
  // Of a plan that was made.
  void add(const std::vector<Shape>& shapes, const Plan& plan);

 private:
  MemoryNeed measure(const std::vector<Shape>& shapes) const;

  const Part& part_;
  const Workshop& workshop_;
  std::mutex mutex_;
  std::map<std::vector<Shape>, MemoryNeed> needs_;  // a bounded number
};

// Of a whole graph, cut into parts, for inputs of these shapes.
MemoryNeed memory_need(const Graph& graph, const Parts& parts,
                       std::span<const std::unique_ptr<PartNeeds>> needs,
                       std::span<const std::optional<Shape>> inputs);

}  // namespace ingot::cpu
