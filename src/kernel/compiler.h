#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "ingot/error.h"
#include "kernel/loop_nest.h"
#include "kernel/target.h"

namespace ingot::kernel {

using KernelSource = std::variant<LoopNest, TileKernel>;
std::string to_string(const KernelSource& source);

// Names a kernel in every cache: SHA-256, in hex, over text, target level and generator_digest().
std::string kernel_key(const KernelSource& source, const Target& target);
// The lowest level with the same code, so that processors share what they need not have apart.
Target least_target(const KernelSource& source, const Target& target);
// SHA-256, in hex, over the sources of the generator: changes whenever the emitted code may.
std::string_view generator_digest();

// Position-independent machine code without outside references, entered at its first byte; runs wherever it
// is placed at a 64-byte boundary.
using Code = std::vector<std::byte>;

struct Listing {  // for people
  std::string llvm_ir;
  std::string assembly;
};

// Turns kernels into code; thread-safe. Throws Error(internal) for what it cannot emit.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual Code compile(const KernelSource& source, const Target& target) const = 0;
  virtual Listing list(const KernelSource& source, const Target& target) const = 0;
};

// The compiler, from the library libingot_jit.so beside this one (or in $INGOT_JIT_LIBRARY), opened at the
// first call. Throws Error(not_found) that names where it was looked for.
const Compiler& compiler();
// Whether it was opened: a warm start never does.
bool compiler_is_loaded();
// What compiler() would throw; opens the library only where it cannot be judged from its file.
std::optional<ErrorParts> compiler_problem();

}  // namespace ingot::kernel
