#include "base/cpu_count.h"

#include <sched.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ingot {
namespace {

std::optional<std::string> content_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// "QUOTA PERIOD" in microseconds; a quota of "max" or -1 means none.
std::optional<double> ratio_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::istringstream in(*text);
  double quota = 0, period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_v2(const std::string& folder) {
  return ratio_of(content_of(folder + "/cpu.max"));
}

std::optional<double> quota_v1(const std::string& folder) {
  auto quota = content_of(folder + "/cpu.cfs_quota_us");
  auto period = content_of(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return ratio_of(*quota + " " + *period);
}

using QuotaOf = std::optional<double> (*)(const std::string& folder);

// The smallest quota of the group and its parents up to the mount. Inside a container the group's path may be
// that of the host and not exist here; then only the mount itself, which is the container's group, has files.
std::optional<double> smallest_quota(QuotaOf quota_of, const std::string& mount, std::string group) {
  std::optional<double> smallest;
  for (;;) {
    auto quota = quota_of(mount + group);
    if (quota && (!smallest || *quota < *smallest)) smallest = quota;
    if (group.empty() || group == "/") return smallest;
    group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

bool has_cpu_controller(std::string_view controllers) {
  for (size_t start = 0; start <= controllers.size();) {
    size_t end = std::min(controllers.find(',', start), controllers.size());
    if (controllers.substr(start, end - start) == "cpu") return true;
    start = end + 1;
  }
  return false;
}

// One line of the membership text is "ID:CONTROLLERS:PATH"; version 2 has ID 0 and no controllers.
std::optional<double> quota_of_line(const std::string& line, const std::string& mount) {
  size_t first = line.find(':');
  size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) return std::nullopt;
  std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
  if (controllers.empty()) return smallest_quota(quota_v2, mount, group);
  if (!has_cpu_controller(controllers)) return std::nullopt;
  auto quota = smallest_quota(quota_v1, mount + "/" + controllers, group);
  return quota ? quota : smallest_quota(quota_v1, mount + "/cpu", group);
}

}  // namespace

std::optional<double> cgroup_cpu_quota(std::string_view membership, const std::string& mount) {
  std::optional<double> smallest;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {
    auto quota = quota_of_line(line, mount);
    if (quota && (!smallest || *quota < *smallest)) smallest = quota;
  }
  return smallest;
}

std::vector<int> allowed_cpus() {
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(capacity) / sizeof(cpu_set_t));
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    std::vector<int> cpus;
    if (sched_getaffinity(0, bytes, set.data()) == 0) {
      for (int cpu = 0; cpu < capacity; ++cpu)
        if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.data())) cpus.push_back(cpu);
      return cpus;
    }
    if (errno != EINVAL) break;  // EINVAL: more CPUs than the set has room for
  }
  return {};
}

int available_cpus() {
  int count = static_cast<int>(allowed_cpus().size());
  auto quota = cgroup_cpu_quota(content_of("/proc/self/cgroup").value_or(""), "/sys/fs/cgroup");
  if (quota) count = static_cast<int>(std::min<double>(count, std::ceil(*quota)));
  return std::max(count, 1);
}

}  // namespace ingot
