#include "base/cpu_affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "base/cpu_count.h"
#include "ingot/error.h"

namespace ingot {
namespace {

bool set_affinity(std::span<const int> cpus) {
  const int capacity = *std::ranges::max_element(cpus) + 1;
  std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(capacity) / sizeof(cpu_set_t) + 1);
  const size_t bytes = set.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(bytes, set.data());
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes, set.data());
  return sched_setaffinity(0, bytes, set.data()) == 0;
}

}  // namespace

void require_allowed_cpus(std::span<const int> cpus, std::string_view object) {
  if (cpus.empty()) return;
  const std::vector<int> allowed = allowed_cpus();
  auto fail = [&](std::string observed) {
    throw Error({.code = ErrorCode::invalid_argument,
                 .object = std::string(object),
                 .expected = fmt::format("some of the CPUs {}, each once", fmt::join(allowed, ", ")),
                 .observed = std::move(observed),
                 .remedy = "Name CPUs that this process may use, or none for all of them."});
  };
  for (size_t i = 0; i < cpus.size(); ++i) {
    if (!std::ranges::binary_search(allowed, cpus[i])) fail(fmt::format("{}", cpus[i]));
    if (std::ranges::count(cpus.first(i), cpus[i]) > 0) fail(fmt::format("{} twice", cpus[i]));
  }
}

CpuAffinity::CpuAffinity(std::span<const int> cpus) {
  if (cpus.empty()) return;
  std::vector<int> before = allowed_cpus();
  if (!set_affinity(cpus))
    throw Error({.code = ErrorCode::device,
                 .object = "CPUs of a thread",
                 .expected = fmt::format("to run on {}", fmt::join(cpus, ", ")),
                 .observed = fmt::format("the system refused it (error {})", errno)});
  before_ = std::move(before);
}

CpuAffinity::~CpuAffinity() {
  if (!before_.empty()) set_affinity(before_);
}

}  // namespace ingot
