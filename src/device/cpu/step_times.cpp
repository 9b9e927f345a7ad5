#include "device/cpu/step_times.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "ir/op_info.h"

namespace ingot::cpu {

StepTimes::Entry& StepTimes::entry_of(const std::shared_ptr<const Plan>& plan, const Node* node,
                                      size_t steps) {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& e) { return e.plan == plan && e.node == node; });
  if (found != entries_.end()) return *found;
  return entries_.emplace_back(Entry{.plan = plan, .node = node, .seconds = std::vector<double>(steps)});
}

void StepTimes::run(const std::shared_ptr<const Plan>& plan, const Frame& frame) {
  Entry& entry = entry_of(plan, nullptr, plan->steps.size());
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    const Stopwatch watch;
    plan->steps[i]->run(frame);
    entry.seconds[i] += watch.seconds();
  }
  ++entry.runs;
}

void StepTimes::add(const Node& node, bool by_routine, double seconds) {
  Entry& entry = entry_of(nullptr, &node, 1);
  entry.by_routine = by_routine;
  entry.seconds[0] += seconds;
  ++entry.runs;
}

std::vector<StepStats> StepTimes::stats() const {
  std::vector<StepStats> out;
  for (const Entry& entry : entries_) {
    if (entry.node) {
      const std::string op(to_string(entry.node->op));
      out.push_back({.name = entry.node->origin.empty() ? op : entry.node->origin,
                     .description = entry.by_routine ? "routine " + op : op + " on the reference device",
                     .runs = entry.runs,
                     .seconds = entry.seconds[0]});
      continue;
    }
    for (size_t i = 0; i < entry.seconds.size(); ++i) {
      const Step& step = *entry.plan->steps[i];
      out.push_back({.name = step.name,
                     .description = step.describe(),
                     .flops = step.cost.flops,
                     .bytes = step.cost.bytes,
                     .runs = entry.runs,
                     .seconds = entry.seconds[i]});
    }
  }
  return out;
}

}  // namespace ingot::cpu
