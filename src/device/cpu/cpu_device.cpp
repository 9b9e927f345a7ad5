#include "device/cpu/cpu_device.h"

#include <cstdlib>

#include "device/cpu/cpu_program.h"
#include "device/reference/reference_device.h"
#include "ingot/error.h"
#include "kernel/compiler.h"
#include "kernel/target.h"

namespace ingot::cpu {
namespace {

constexpr const char* kIsaVariable = "INGOT_CPU_ISA";

// The level wanted by name, from the options or else the environment.
std::optional<kernel::IsaLevel> wanted_level(const CompileOptions& options) {
  std::string wanted = options.isa;
  if (wanted.empty())
    if (const char* variable = std::getenv(kIsaVariable)) wanted = variable;
  if (wanted.empty()) return std::nullopt;
  if (std::optional<kernel::IsaLevel> level = kernel::parse_isa_level(wanted)) return level;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "instruction set",
               .name = wanted,
               .expected = "avx2, avx512, avx512-vnni, avx512-bf16 or amx",
               .remedy = fmt::format("Correct {} or the configuration of the runtime.", kIsaVariable)});
}

kernel::IsaLevel choose_level(kernel::IsaLevel here, const CompileOptions& options) {
  const std::optional<kernel::IsaLevel> wanted = wanted_level(options);
  if (!wanted || *wanted <= here) return wanted.value_or(here);
  throw Error({.code = ErrorCode::incompatible,
               .object = "instruction set",
               .name = std::string(to_string(*wanted)),
               .expected = fmt::format("at most {}, which this processor has", to_string(here)),
               .remedy = fmt::format("Unset {} or choose a lower one.", kIsaVariable)});
}

class CpuDevice : public Device {
 public:
  std::string_view name() const override { return "cpu"; }

  std::shared_ptr<const Program> compile(std::shared_ptr<const Graph> graph,
                                         const CompileOptions& options) const override {
    const std::optional<kernel::IsaLevel> here = kernel::detect_isa_level();
    if (!here) {
      options.diagnostics.log(
          LogLevel::warning,
          "this processor lacks AVX2, FMA or F16C: inference runs on the reference device, slowly");
      return reference::device().compile(std::move(graph), options);
    }
    auto program =
        std::make_shared<CpuProgram>(std::move(graph), options, kernel::Target{choose_level(*here, options)});
    program->prepare(options.shapes);
    return program;
  }

  CodeUse use_of_code(std::string_view target, const Digest& generator) const override {
    const std::optional<kernel::IsaLevel> level = kernel::parse_target_name(target);
    const std::optional<kernel::IsaLevel> here = kernel::detect_isa_level();
    if (!level || !here || *level > *here) return CodeUse::other_device;
    const std::string name = to_hex(generator);
    const bool current = name == kernel::generator_digest() || name == packing_digest();
    return current ? CodeUse::usable : CodeUse::other_version;
  }

  void prebuild(std::shared_ptr<const Graph> graph, const CompileOptions& options,
                std::string_view target) const override {
    const std::optional<kernel::IsaLevel> level = kernel::parse_target_name(target);
    if (!level) return Device::prebuild(std::move(graph), options, target);
    CpuProgram program(std::move(graph), options, kernel::Target{*level});
    program.prepare(options.shapes);
    program.keep_kernels();
  }
};

}  // namespace

const Device& device() {
  static const CpuDevice device;
  return device;
}

}  // namespace ingot::cpu
