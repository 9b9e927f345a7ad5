#include "device/cpu/routines/table.h"

namespace ingot::cpu {

const Routine* find_routine(Op op) {
  static const RoutineTable table = [] {
    RoutineTable t;
    add_gather_routines(t);
    add_movement_routines(t);
    add_pad_routines(t);
    add_quantize_routines(t);
    add_arg_reduce_routines(t);
    add_list_routines(t);
    add_scan_routines(t);
    add_top_k_routines(t);
    add_box_routines(t);
    add_grid_sample_routines(t);
    add_pool_routines(t);
    add_recurrent_routines(t);
    add_resize_routines(t);
    add_scatter_routines(t);
    return t;
  }();
  auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace ingot::cpu
