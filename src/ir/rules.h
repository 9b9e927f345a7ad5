#pragma once

#include "ir/inference.h"

// The rules named in ops.def, defined in rules_<group>.cpp. Each sets the type of every output or throws.
namespace ingot::rules {

#define OP(Name, text, operands, outputs, attributes, rule, traits) void rule(Inference&);
#define OP_CONTROL OP
#include "ingot/ops.def"

}  // namespace ingot::rules
