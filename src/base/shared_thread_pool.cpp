#include <map>
#include <mutex>

#include "base/cpu_affinity.h"
#include "base/cpu_count.h"
#include "base/thread_pool.h"

namespace ingot {
namespace {

// The threads a pool has, and the CPUs they may run on.
using PoolKey = std::pair<int, std::vector<int>>;

}  // namespace

std::shared_ptr<ThreadPool> shared_thread_pool(int threads, std::span<const int> cpus) {
  static std::mutex mutex;
  static std::map<PoolKey, std::weak_ptr<ThreadPool>> pools;
  std::lock_guard lock(mutex);
  const CpuAffinity affinity(cpus);
  std::erase_if(pools, [](const auto& entry) { return entry.second.expired(); });
  auto& entry = pools[{threads > 0 ? threads : available_cpus(), allowed_cpus()}];
  std::shared_ptr<ThreadPool> pool = entry.lock();
  if (!pool) entry = pool = std::make_shared<ThreadPool>(threads);
  return pool;
}

}  // namespace ingot
