#include "kernel/llvm/compile.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "ingot/error.h"
#include "kernel/llvm/emit.h"
#include "kernel/llvm/flat_code.h"

namespace ingot::kernel {
namespace {

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";
constexpr char kEntry[] = "entry";

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
    case IsaLevel::amx:
      return {"x86-64-v4", "+avx512vnni,+avx512bf16,+amx-tile,+amx-int8,+amx-bf16", "sapphirerapids"};
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

std::unique_ptr<llvm::TargetMachine> make_machine(IsaLevel level) {
  static const llvm::Target& target = x86_target();
  const Processor processor = processor_of(level);
  llvm::TargetOptions options;
  options.FunctionSections = true;  // so that the entry can be placed first
  return std::unique_ptr<llvm::TargetMachine>(
      target.createTargetMachine(kTriple, processor.cpu, processor.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less));
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

// The IR of one kernel, with what it lives in.
struct Emitted {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::Module module;

  Emitted(const KernelSource& source, const Target& target)
      : machine(make_machine(target.level)), module("kernel", context) {
    context.setDiagnosticHandlerCallBack(on_diagnostic);
    module.setTargetTriple(kTriple);
    module.setDataLayout(machine->createDataLayout());
    if (const auto* nest = std::get_if<LoopNest>(&source)) emit_nest(module, *nest, target);
    if (const auto* tile = std::get_if<TileKernel>(&source)) emit_tile(module, *tile, target);
    prepare_functions(module, target.level);
    check();
  }

  // Costs a hundredth of generating the code; broken IR would crash there.
  void check() const {
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(module, &stream)) fail(problems);
  }

  llvm::SmallVector<char, 0> generate(llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> output;
    llvm::raw_svector_ostream stream(output);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
      fail("no way to write this kind of file");
    passes.run(module);
    return output;
  }
};

class LlvmCompiler final : public Compiler {
 public:
  Code compile(const KernelSource& source, const Target& target) const override {
    Emitted emitted(source, target);
    const auto object = emitted.generate(llvm::CodeGenFileType::ObjectFile);
    return link_flat(std::as_bytes(std::span(object.data(), object.size())), kEntry);
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
