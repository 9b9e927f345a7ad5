#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "kernel/target.h"

namespace ingot::kernel {

// The part that talks to LLVM's code generator. Everything throws Error(internal) where LLVM would end the
// process.

// One compilation at a time.
std::unique_ptr<llvm::TargetMachine> make_machine(IsaLevel level);

// Makes the module one for the machine: before anything is added to it.
void set_machine(llvm::Module& module, const llvm::TargetMachine& machine);

// Verifies and writes a finished module, as an object or as assembly; it is of no use afterwards.
llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::TargetMachine& machine, IsaLevel level,
                                    llvm::CodeGenFileType type);

}  // namespace ingot::kernel
