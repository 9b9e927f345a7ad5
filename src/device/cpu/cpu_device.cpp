#include "device/cpu/cpu_device.h"

#include <atomic>
#include <cstdlib>

#include "device/cpu/cpu_program.h"
#include "device/reference/reference_device.h"
#include "ingot/error.h"
#include "kernel/compiler.h"
#include "kernel/target.h"

namespace ingot::cpu {
namespace {

constexpr const char* kIsaVariable = "INGOT_CPU_ISA";

std::atomic<bool> emulation_is_allowed = false;

// The name of the level wanted, from the options or else the environment.
std::string wanted_name(const CompileOptions& options) {
  const char* variable = std::getenv(kIsaVariable);
  return options.isa.empty() && variable ? variable : options.isa;
}

std::optional<kernel::IsaLevel> level_of(const std::string& wanted) {
  if (wanted.empty()) return std::nullopt;
  if (std::optional<kernel::IsaLevel> level = kernel::parse_isa_level(wanted)) return level;
  throw Error({.code = ErrorCode::invalid_argument,
               .object = "instruction set",
               .name = wanted,
               .expected = "avx2, avx512, avx512-vnni, avx512-bf16 or amx",
               .remedy = fmt::format("Correct {} or the configuration of the runtime.", kIsaVariable)});
}

kernel::Target choose_target(kernel::IsaLevel here, const CompileOptions& options) {
  const std::string name = wanted_name(options);
  if (name == kEmulatedTiles && emulation_is_allowed && here >= kernel::IsaLevel::avx512_vnni)
    return {kernel::IsaLevel::amx, true};
  const std::optional<kernel::IsaLevel> wanted = level_of(name);
  if (!wanted || *wanted <= here) return {wanted.value_or(here)};
  throw Error({.code = ErrorCode::incompatible,
               .object = "instruction set",
               .name = std::string(to_string(*wanted)),
               .expected = fmt::format("at most {}, which this processor has", to_string(here)),
               .remedy = fmt::format("Unset {} or choose a lower one.", kIsaVariable)});
}

void log_refused_tiles(const Diagnostics& diagnostics, kernel::IsaLevel here) {
  static std::atomic<bool> is_logged = false;
  if (!kernel::tiles_are_refused() || is_logged.exchange(true)) return;
  diagnostics.log(
      LogLevel::warning,
      fmt::format("the system does not let this process use the AMX of the processor: kernels use {}",
                  to_string(here)));
}

std::string describe(const ErrorParts& parts) {
  return fmt::format("{} '{}': expected {}, found {}", parts.object, parts.name, parts.expected,
                     parts.observed.empty() ? "another" : parts.observed);
}

// Found ready kernels run without the compiler, so what is wrong with it need not matter.
std::optional<DeviceLimit> limit_of_compiler() {
  const std::optional<ErrorParts> problem = kernel::compiler_problem();
  if (!problem) return std::nullopt;
  const EngineReason reason = problem->code == ErrorCode::incompatible ? EngineReason::library_too_old
                                                                       : EngineReason::installation_error;
  return DeviceLimit{.finding = {reason, describe(*problem), problem->remedy}};
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
    log_refused_tiles(options.diagnostics, *here);
    auto program = std::make_shared<CpuProgram>(std::move(graph), options, choose_target(*here, options));
    program->open(options.shapes, options.samples);
    return program;
  }

  std::vector<DeviceLimit> find_limits(const CompileOptions& options) const override {
    constexpr EngineReason kMissing = EngineReason::missing_device_feature;
    const std::optional<kernel::IsaLevel> here = kernel::detect_isa_level();
    if (!here)
      return {{.finding = {kMissing, "expected a processor with AVX2, FMA and F16C, found one without",
                           "Use another machine; here inference runs on the reference device, slowly."}}};
    std::vector<DeviceLimit> limits;
    try {
      (void)choose_target(*here, options);
    } catch (const Error& e) {
      limits.push_back({.finding = {kMissing, describe(e.parts()), e.parts().remedy}, .is_fatal = true});
    }
    if (auto limit = limit_of_compiler()) limits.push_back(std::move(*limit));
    return limits;
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
    program.open(options.shapes, options.samples);
    program.keep_kernels();
  }
};

}  // namespace

void allow_tile_emulation() { emulation_is_allowed = true; }

const Device& device() {
  static const CpuDevice device;
  return device;
}

}  // namespace ingot::cpu
