#pragma once

#include "device/cpu/plan.h"
#include "ingot/step_stats.h"

namespace ingot::cpu {

// How long the steps of one context took.
class StepTimes {
 public:
  // Runs all steps of a plan.
  void run(const std::shared_ptr<const Plan>& plan, const Frame& frame);
  // A node that ran outside of plans, by its routine or on the reference device; it must outlive this.
  void add(const Node& node, bool by_routine, double seconds);
  std::vector<StepStats> stats() const;

 private:
  // A plan or a node, in the order in which they first ran.
  struct Entry {
    std::shared_ptr<const Plan> plan;
    const Node* node = nullptr;
    bool by_routine = false;
    uint64_t runs = 0;
    std::vector<double> seconds = {};  // by step
  };
  Entry& entry_of(const std::shared_ptr<const Plan>& plan, const Node* node, size_t steps);

  std::vector<Entry> entries_;
};

}  // namespace ingot::cpu
