#include "kernel/target.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace ingot::kernel {
namespace {

constexpr auto kNames = std::to_array<std::pair<IsaLevel, std::string_view>>({
    {IsaLevel::avx2, "avx2"},
    {IsaLevel::avx512, "avx512"},
    {IsaLevel::avx512_vnni, "avx512-vnni"},
    {IsaLevel::avx512_bf16, "avx512-bf16"},
    {IsaLevel::amx, "amx"},
});

constexpr std::string_view kPrefix = "cpu:";

// Bits of CPUID, named as in the manuals of the processors.
constexpr uint64_t bits(std::initializer_list<int> positions) {
  uint64_t mask = 0;
  for (const int position : positions) mask |= uint64_t{1} << position;
  return mask;
}
constexpr uint64_t kBasicEcx =
    bits({0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29});        // SSE3 ... FMA, MOVBE, OSXSAVE, F16C
constexpr uint64_t kExtendedEcx = bits({0, 5});              // LAHF, LZCNT
constexpr uint64_t kAvx2Ebx = bits({3, 5, 8});               // BMI1, AVX2, BMI2
constexpr uint64_t kAvx512Ebx = bits({16, 17, 28, 30, 31});  // F, DQ, CD, BW, VL
constexpr uint64_t kVnniEcx = bits({11});
constexpr uint64_t kBf16Eax = bits({5});
constexpr uint64_t kAmxEdx = bits({24, 25});  // TILE, INT8
// State that the operating system saves, in XCR0.
constexpr uint64_t kAvxState = bits({1, 2});
constexpr uint64_t kAvx512State = bits({5, 6, 7});
constexpr uint64_t kTileState = bits({17, 18});

bool has(uint64_t value, uint64_t mask) { return (value & mask) == mask; }

struct CpuId {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  explicit CpuId(unsigned leaf, unsigned subleaf = 0) {
    __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx);
  }
};

uint64_t saved_state() {
  uint32_t low, high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// Linux gives the large tile registers only to a process that asks for them.
bool request_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct Detected {
  std::optional<IsaLevel> level;
  bool refuses_tiles = false;
};

Detected detect() {
  if (!has(CpuId(1).ecx, kBasicEcx) || !has(CpuId(0x80000001).ecx, kExtendedEcx)) return {};
  const uint64_t state = saved_state();
  const CpuId features(7);
  if (!has(state, kAvxState) || !has(features.ebx, kAvx2Ebx)) return {};
  if (!has(state, kAvx512State) || !has(features.ebx, kAvx512Ebx)) return {IsaLevel::avx2};
  if (!has(features.ecx, kVnniEcx)) return {IsaLevel::avx512};
  if (!has(CpuId(7, 1).eax, kBf16Eax)) return {IsaLevel::avx512_vnni};
  if (!has(features.edx, kAmxEdx)) return {IsaLevel::avx512_bf16};
  if (has(state, kTileState) && request_tiles()) return {IsaLevel::amx};
  return {IsaLevel::avx512_bf16, true};
}

const Detected& detected() {
  static const Detected found = detect();
  return found;
}

}  // namespace

std::string_view to_string(IsaLevel level) { return kNames.at(static_cast<size_t>(level)).second; }

std::optional<IsaLevel> parse_isa_level(std::string_view text) {
  for (const auto& [level, name] : kNames)
    if (name == text) return level;
  return std::nullopt;
}

std::string target_name(IsaLevel level) { return std::string(kPrefix) + std::string(to_string(level)); }

std::optional<IsaLevel> parse_target_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view level = name.substr(kPrefix.size());
  if (level == "x86-64-v3") return IsaLevel::avx2;
  if (level == "x86-64-v4") return IsaLevel::avx512;
  return parse_isa_level(level);
}

std::string to_string(const Target& target) {
  return std::string(to_string(target.level)) + (target.emulates_tiles ? " emulated" : "");
}

std::optional<IsaLevel> detect_isa_level() { return detected().level; }

bool tiles_are_refused() { return detected().refuses_tiles; }

}  // namespace ingot::kernel
