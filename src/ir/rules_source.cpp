#include "ir/rules.h"

namespace ingot::rules {

// Inputs get their type from whoever declares them, never from a rule.
void input_type(Inference& c) { c.fail(-1, "a declared type", "none"); }

void constant_type(Inference& c) { c.set(0, Type::of(c.attrs<ConstantAttrs>().value)); }

}  // namespace ingot::rules
