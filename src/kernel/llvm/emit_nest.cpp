#include "kernel/llvm/emit.h"
#include "kernel/llvm/nest_frame.h"
#include "kernel/schedule.h"

namespace ingot::kernel {

void emit_nest(llvm::Module& module, const LoopNest& nest, const Target& target) {
  verify(nest);
  FunctionEmitter emitter(module, target, "entry");
  NestFrame frame(emitter, nest);
  if (!nest.axes.back().reduced)
    is_transposed(nest) ? emit_transposed(frame) : emit_pointwise(frame);
  else if (folds_columns(nest))
    emit_columns(frame);
  else
    emit_rows(frame);
  emitter.finish();
}

}  // namespace ingot::kernel
