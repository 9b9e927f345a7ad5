#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The CPUs that the calling thread may run on, in ascending order. Asks the system at each call.
std::vector<int> allowed_cpus();

// How many threads of this process can run at once: the calling thread's CPU affinity, cut to the CPU time
// quota of the process's control group (rounded up). At least 1. Asks the system at each call.
int available_cpus();

// The CPU quota in CPUs, smallest over the group and its parents; nothing where there is none. `membership`
// is the text of /proc/self/cgroup, `mount` the folder under which control groups (version 1, 2 or both) are
// mounted.
std::optional<double> cgroup_cpu_quota(std::string_view membership, const std::string& mount);

}  // namespace ingot
