#include "cli/profile_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

// Two steps in two inferences on two threads.
ExecutionProfile small_profile() {
  const StepInfo product{.name = "layer/product",
                         .kind = "tile",
                         .detail = "8x32",
                         .reads = {"f32[4, 4]"},
                         .writes = {"f32[4, 4] axes 1,0"},
                         .flops = 4000,
                         .bytes = 1000};
  const StepInfo copy{.name = "layer/copy", .kind = "copy", .detail = "", .flops = 0, .bytes = 64};
  return {.target = "avx2",
          .threads = 2,
          .inferences = 2,
          .seconds = 0.006,
          .steps = {{copy, 2, 0.0012, 0.0005, 0.0005}, {product, 2, 0.0042, 0.002, 0.002}},
          .events = {{0, 0, 0.001, 0.0005}, {1, 1, 0.0016, 0.0019}, {1, 0, 0.0015, 0.002}},
          .dropped_events = 7};
}

TEST(ProfileReport, TraceHasALaneForEachThreadAndAnEventForEachStretch) {
  const Json trace = trace_json(small_profile(), "model.ingot");
  std::map<int, std::string> lanes;
  std::vector<Json> stretches;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") lanes[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X") stretches.push_back(event);
  }
  EXPECT_EQ(lanes, (std::map<int, std::string>{{0, "caller"}, {1, "helper 1"}}));
  ASSERT_EQ(stretches.size(), 3u);
  // Microseconds, as the format wants them.
  EXPECT_DOUBLE_EQ(stretches[0]["ts"], 1000);
  EXPECT_DOUBLE_EQ(stretches[0]["dur"], 500);
  EXPECT_EQ(stretches[0]["name"], "layer/copy");
  EXPECT_EQ(stretches[1]["tid"], 1);
  EXPECT_EQ(stretches[1]["name"], "layer/product");
  EXPECT_EQ(stretches[1]["cat"], "tile");
  EXPECT_EQ(stretches[1]["args"]["writes"][0], "f32[4, 4] axes 1,0");
  EXPECT_EQ(trace["otherData"]["dropped_events"], 7);
}

TEST(ProfileReport, TextSortsByTimeAndComputesRates) {
  const std::string text = profile_text(small_profile());
  const size_t product = text.find("layer/product"), copy = text.find("layer/copy");
  ASSERT_NE(product, std::string::npos) << text;
  ASSERT_NE(copy, std::string::npos) << text;
  EXPECT_LT(product, copy);
  // 0.002 of the 0.0025 seconds; 4000 operations and 1000 bytes in 0.002 seconds.
  const std::string line = text.substr(text.rfind('\n', product) + 1, product - text.rfind('\n', product));
  EXPECT_NE(line.find("80.0 %"), std::string::npos) << line;
  EXPECT_NE(line.find("2 ms"), std::string::npos) << line;
}

TEST(ProfileReport, JsonKeepsTheOrderOfSteps) {
  const Json json = profile_json(small_profile());
  EXPECT_EQ(json["steps"][0]["name"], "layer/copy");
  EXPECT_EQ(json["steps"][1]["flops"], 4000);
  EXPECT_EQ(json["steps"][1]["median_seconds"], 0.002);
  EXPECT_EQ(json["inferences"], 2);
}

TEST(ProfileReport, SaysWhereThereIsNothingToShow) {
  EXPECT_NE(profile_text({}).find("no steps"), std::string::npos);
}

}  // namespace
}  // namespace ingot::cli
