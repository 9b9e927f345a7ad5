#include "kernel/llvm/codegen.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "ingot/error.h"

namespace ingot::kernel {
namespace {

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

// Never the processor at hand: the code depends on the level alone.
struct Processor {
  const char* cpu;
  const char* features;
  const char* tuning;  // the schedule model
};

Processor processor_of(IsaLevel level) {
  switch (level) {
    case IsaLevel::avx2: return {"x86-64-v3", "", "haswell"};
    case IsaLevel::avx512: return {"x86-64-v4", "", "skylake-avx512"};
    case IsaLevel::avx512_vnni: return {"x86-64-v4", "+avx512vnni", "icelake-server"};
    case IsaLevel::avx512_bf16: return {"x86-64-v4", "+avx512vnni,+avx512bf16", "icelake-server"};
    case IsaLevel::amx: return {"x86-64-v4", "+avx512vnni,+avx512bf16,+amx-tile,+amx-int8", "sapphirerapids"};
  }
  throw Error({.object = "instruction set level", .observed = std::to_string(static_cast<int>(level))});
}

[[noreturn]] void fail(std::string observed) {
  throw Error({.code = ErrorCode::internal,
               .object = "kernel",
               .expected = "code that LLVM accepts",
               .observed = std::move(observed),
               .remedy = "This is a fault of Ingot's code generator; please report it."});
}

// By default LLVM ends the process in both cases.
void on_fatal_error(void*, const char* reason, bool) { fail(reason); }
void on_diagnostic(const llvm::DiagnosticInfo* info, void*) {
  if (info->getSeverity() != llvm::DS_Error) return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  fail(text);
}

const llvm::Target& x86_target() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();  // of inline assembly
  llvm::install_fatal_error_handler(on_fatal_error);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) fail(error);
  return *target;
}

// Nothing may be replaced from outside, or references would go through tables that flat code lacks.
void prepare_functions(llvm::Module& module, IsaLevel level) {
  for (llvm::GlobalVariable& variable : module.globals()) variable.setDSOLocal(true);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setDSOLocal(true);
    function.setDoesNotThrow();
    function.addFnAttr("tune-cpu", processor_of(level).tuning);
  }
}

// Broken IR would crash the code generator; looking costs a hundredth of it.
void check(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream)) fail(problems);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(IsaLevel level) {
  static const llvm::Target& target = x86_target();
  const Processor processor = processor_of(level);
  llvm::TargetOptions options;
  options.FunctionSections = true;  // so that the entry can be placed first
  return std::unique_ptr<llvm::TargetMachine>(
      target.createTargetMachine(kTriple, processor.cpu, processor.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less));
}

void set_machine(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.getContext().setDiagnosticHandlerCallBack(on_diagnostic);
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine.createDataLayout());
}

llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::TargetMachine& machine, IsaLevel level,
                                    llvm::CodeGenFileType type) {
  prepare_functions(module, level);
  check(module);
  llvm::SmallVector<char, 0> output;
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) fail("no way to write this kind of file");
  passes.run(module);
  return output;
}

}  // namespace ingot::kernel
