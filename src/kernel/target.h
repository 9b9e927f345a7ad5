#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot::kernel {

// What generated code may assume of a processor; each level includes those before it.
enum class IsaLevel : uint8_t { avx2, avx512, avx512_vnni, avx512_bf16, amx };

struct Target {
  IsaLevel level = IsaLevel::avx2;
  bool emulates_tiles = false;  // AMX instructions work in memory; only tests ask for that

  int lanes() const { return level >= IsaLevel::avx512 ? 16 : 8; }  // f32 in one register
  int registers() const { return level >= IsaLevel::avx512 ? 32 : 16; }
};

// "avx2", "avx512", "avx512-vnni", "avx512-bf16", "amx".
std::string_view to_string(IsaLevel level);
std::optional<IsaLevel> parse_isa_level(std::string_view text);
// "cpu:avx512", and the level of such a name; the levels of the x86-64 ABI, "cpu:x86-64-v4", are understood.
std::string target_name(IsaLevel level);
std::optional<IsaLevel> parse_target_name(std::string_view name);
// As caches and people name it: the level, and whether tiles are emulated.
std::string to_string(const Target& target);
// Of the processor this runs on, operating-system support included; empty below AVX2 with FMA and F16C.
std::optional<IsaLevel> detect_isa_level();
// Whether the processor has AMX that the operating system does not let this process use.
bool tiles_are_refused();

}  // namespace ingot::kernel
