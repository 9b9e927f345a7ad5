#include "cli/timings.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace ingot::cli {

double percentile(const std::vector<double>& sorted, double part) {
  const double rank = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(1.0, rank)) - 1];
}

Timings summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto count = static_cast<double>(seconds.size());
  return {.count = seconds.size(),
          .min = seconds.front(),
          .mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count,
          .p50 = percentile(seconds, 0.5),
          .p90 = percentile(seconds, 0.9),
          .p95 = percentile(seconds, 0.95),
          .p99 = percentile(seconds, 0.99),
          .max = seconds.back()};
}

nlohmann::ordered_json to_json(const Timings& t) {
  return {{"runs", t.count}, {"min", t.min}, {"mean", t.mean}, {"p50", t.p50},
          {"p90", t.p90},    {"p95", t.p95}, {"p99", t.p99},   {"max", t.max}};
}

}  // namespace ingot::cli
