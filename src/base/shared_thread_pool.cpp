#include <sched.h>

#include <map>
#include <mutex>

#include "base/cpu_count.h"
#include "base/thread_pool.h"

namespace ingot {
namespace {

// The threads a pool has, and the CPUs they may run on.
using PoolKey = std::pair<int, std::string>;

std::string affinity() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
    return {};  // more CPUs than a set holds: one pool for all
  return {reinterpret_cast<const char*>(&cpus), sizeof cpus};
}

}  // namespace

std::shared_ptr<ThreadPool> shared_thread_pool(int threads) {
  static std::mutex mutex;
  static std::map<PoolKey, std::weak_ptr<ThreadPool>> pools;
  std::lock_guard lock(mutex);
  std::erase_if(pools, [](const auto& entry) { return entry.second.expired(); });
  auto& entry = pools[{threads > 0 ? threads : available_cpus(), affinity()}];
  std::shared_ptr<ThreadPool> pool = entry.lock();
  if (!pool) entry = pool = std::make_shared<ThreadPool>(threads);
  return pool;
}

}  // namespace ingot
