#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ingot::cli {

// Of durations in seconds; at least one. Percentiles are the smallest value that this part of the values does
// not exceed.
struct Timings {
  size_t count = 0;
  double min = 0, mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

// `part` of 1 is the largest value.
double percentile(const std::vector<double>& sorted, double part);
Timings summarize(std::vector<double> seconds);
nlohmann::ordered_json to_json(const Timings& timings);

}  // namespace ingot::cli
