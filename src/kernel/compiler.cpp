#include "kernel/compiler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "ingot/error.h"
#include "kernel/generator_digest.h"
#include "kernel/jit_library.h"

namespace ingot::kernel {
namespace {

constexpr char kFileName[] = "libingot_jit.so";
constexpr char kRemedy[] = "Install it with Ingot, or name it in the environment variable INGOT_JIT_LIBRARY.";

std::atomic<const Compiler*> opened_compiler = nullptr;

// The folder of the file that this code was loaded from, with its slash; empty where it has none.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || !info.dli_fname) return "";
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(0, path.rfind('/') + 1));  // npos + 1 is 0
}

// In the order of trial. A name without a folder is looked for where the loader looks.
std::vector<std::string> candidates() {
  if (const char* named = secure_getenv("INGOT_JIT_LIBRARY")) return {named};
  if (std::string folder = own_folder(); !folder.empty()) return {folder + kFileName, kFileName};
  return {kFileName};
}

struct OpenLibrary {
  void* handle;
  std::string path;
};

OpenLibrary open_library() {
  std::string trials;
  for (const std::string& path : candidates()) {
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, path};
    const char* reason = dlerror();
    trials += fmt::format("{}{}", trials.empty() ? "" : "; ", reason ? reason : path);
  }
  throw Error({.code = ErrorCode::not_found,
               .object = "kernel compiler",
               .name = kFileName,
               .expected = "a library that can be opened",
               .observed = trials,
               .remedy = kRemedy});
}

ErrorParts other_build(const std::string& path, std::string observed) {
  return {.code = ErrorCode::incompatible,
          .object = "kernel compiler",
          .name = path,
          .expected = fmt::format("the one built with this libingot, build {:.12}", kGeneratorDigest),
          .observed = std::move(observed),
          .remedy = kRemedy};
}

const Compiler& open_compiler() {
  const auto [handle, path] = open_library();
  const auto* library = static_cast<const JitLibrary*>(dlsym(handle, kJitSymbol));
  if (!library || std::string_view(library->generator_digest) != kGeneratorDigest) {
    const std::string observed =
        library ? fmt::format("build {:.12}", library->generator_digest) : "another library";
    dlclose(handle);
    throw Error(other_build(path, observed));
  }
  return library->compiler();
}

}  // namespace

std::string to_string(const KernelSource& source) {
  return std::visit([](const auto& kernel) { return to_string(kernel); }, source);
}

std::string kernel_key(const KernelSource& source, const Target& target) {
  return to_hex(sha256(fmt::format("{}\n{}\n{}", kGeneratorDigest, to_string(target), to_string(source))));
}

Target least_target(const KernelSource& source, const Target& target) {
  const auto* tile = std::get_if<TileKernel>(&source);
  const LoopNest& nest = tile ? tile->epilogue : std::get<LoopNest>(source);
  const bool has_bf16 =
      std::ranges::any_of(nest.accesses, [](const Access& a) { return a.dtype == DType::bf16; });
  const bool is_special = has_bf16 || (tile && (is_integer(tile->a) || tile->b == DType::bf16));
  return is_special ? target : Target{std::min(target.level, IsaLevel::avx512)};
}

std::string_view generator_digest() { return kGeneratorDigest; }

const Compiler& compiler() {
  if (const Compiler* opened = opened_compiler.load(std::memory_order_acquire)) return *opened;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!opened_compiler.load(std::memory_order_relaxed)) opened_compiler.store(&open_compiler());
  return *opened_compiler.load(std::memory_order_relaxed);
}

std::optional<ErrorParts> compiler_problem() {
  if (compiler_is_loaded()) return std::nullopt;
  try {
    const std::string first = candidates().front();
    if (first.find('/') == std::string::npos || access(first.c_str(), R_OK) != 0) {
      (void)compiler();
      return std::nullopt;
    }
    const auto file = MappedFile::open(first, "kernel compiler");
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->size());
    if (text.find(kGeneratorDigest) != std::string_view::npos) return std::nullopt;
    return other_build(first, "another build");
  } catch (const Error& e) {
    return e.parts();
  }
}

bool compiler_is_loaded() { return opened_compiler.load(std::memory_order_acquire) != nullptr; }

}  // namespace ingot::kernel
