#pragma once

#include <map>

#include "device/cpu/routine.h"

namespace ingot::cpu {

using RoutineTable = std::map<Op, Routine>;

// One per file of routines.
void add_gather_routines(RoutineTable& table);
void add_movement_routines(RoutineTable& table);
void add_pad_routines(RoutineTable& table);
void add_quantize_routines(RoutineTable& table);
void add_recurrent_routines(RoutineTable& table);
void add_resize_routines(RoutineTable& table);
void add_scatter_routines(RoutineTable& table);

}  // namespace ingot::cpu
