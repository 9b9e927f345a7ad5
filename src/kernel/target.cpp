#include "kernel/target.h"

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

}  // namespace

std::string_view to_string(IsaLevel level) { return kNames.at(static_cast<size_t>(level)).second; }

std::optional<IsaLevel> parse_isa_level(std::string_view text) {
  for (const auto& [level, name] : kNames)
    if (name == text) return level;
  return std::nullopt;
}

}  // namespace ingot::kernel
