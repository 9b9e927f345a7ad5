#pragma once

#include "device/cpu/plan_builder.h"

namespace ingot::cpu {

// The nodes of a group, to be run by the reference device where its kernel meets values that it has no answer
// for.
class ReferenceGroup {
 public:
  // `out`: where the root lies.
  ReferenceGroup(PlanBuilder& builder, const Group& group, Place out);

  std::vector<Place> reads() const;
  // Allocates.
  void run(const Frame& frame) const;

 private:
  struct Input {
    Value value;
    Type type;
    Place place;
  };

  std::vector<std::pair<int32_t, Node>> nodes_;
  std::vector<Input> inputs_;
  Place out_;
};

}  // namespace ingot::cpu
