#include "kernel/llvm/compile.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include "kernel/llvm/codegen.h"
#include "kernel/llvm/emit.h"
#include "kernel/llvm/flat_code.h"

namespace ingot::kernel {
namespace {

// The IR of one kernel, with what it lives in.
struct Emitted {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::Module module;
  IsaLevel level;

  Emitted(const KernelSource& source, const Target& target)
      : machine(make_machine(target.level)), module("kernel", context), level(target.level) {
    set_machine(module, *machine);
    if (const auto* nest = std::get_if<LoopNest>(&source)) emit_nest(module, *nest, target);
    if (const auto* tile = std::get_if<TileKernel>(&source)) emit_tile(module, *tile, target);
  }

  llvm::SmallVector<char, 0> generate(llvm::CodeGenFileType type) {
    return kernel::generate(module, *machine, level, type);
  }
};

class LlvmCompiler final : public Compiler {
 public:
  Code compile(const KernelSource& source, const Target& target) const override {
    const auto object = Emitted(source, target).generate(llvm::CodeGenFileType::ObjectFile);
    return link_flat(std::as_bytes(std::span(object.data(), object.size())), "entry");
  }

  Listing list(const KernelSource& source, const Target& target) const override {
    Emitted emitted(source, target);
    Listing listing;
    llvm::raw_string_ostream stream(listing.llvm_ir);
    emitted.module.print(stream, nullptr);
    const auto assembly = emitted.generate(llvm::CodeGenFileType::AssemblyFile);
    listing.assembly.assign(assembly.begin(), assembly.end());
    return listing;
  }
};

}  // namespace

const Compiler& llvm_compiler() {
  static const LlvmCompiler compiler;
  return compiler;
}

}  // namespace ingot::kernel
