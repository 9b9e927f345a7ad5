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
void add_arg_reduce_routines(RoutineTable& table);
void add_list_routines(RoutineTable& table);
void add_scan_routines(RoutineTable& table);
void add_top_k_routines(RoutineTable& table);
void add_box_routines(RoutineTable& table);
void add_grid_sample_routines(RoutineTable& table);
void add_pool_routines(RoutineTable& table);
void add_recurrent_routines(RoutineTable& table);
void add_resize_routines(RoutineTable& table);
void add_scatter_routines(RoutineTable& table);

}  // namespace ingot::cpu
