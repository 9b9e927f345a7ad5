#include "cli/values.h"

#include "cli/arguments.h"
#include "cli/timings.h"

namespace ingot::cli {
namespace {

template <class Call>
std::string usage_error(Call&& call) {
  try {
    call();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "none";
}

TEST(Values, ShapesAreSizesJoinedByX) {
  EXPECT_EQ(parse_shape("--shape", "1x3x224x224"), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(parse_shape("--shape", "7"), (Shape{7}));
  EXPECT_EQ(parse_shape("--shape", "scalar"), Shape{});
  for (const char* bad : {"", "x", "1x", "1x-2", "1x 2", "1.5", "99999999999999999999"})
    EXPECT_NE(usage_error([&] { parse_shape("--shape", bad); }), "none") << bad;
}

TEST(Values, ByteCountsTakeUnitsOfThousands) {
  EXPECT_EQ(parse_byte_count("--memory-limit", "750000"), 750000u);
  EXPECT_EQ(parse_byte_count("--memory-limit", "1.5G"), 1500000000u);
  EXPECT_EQ(parse_byte_count("--memory-limit", "2k"), 2000u);
  for (const char* bad : {"", "0", "-1", "1T", "1 M", "nan", "inf", "1e30"})
    EXPECT_NE(usage_error([&] { parse_byte_count("--memory-limit", bad); }), "none") << bad;
}

TEST(Values, ProfilesCollectWhatIsSaidOfThem) {
  const auto profiles = parse_profiles({"x=1x3:2x3:4x3@small", "x=5x3@large"}, {"n=1:2:4@small", "batch=8"});
  ASSERT_EQ(profiles.size(), 3u);
  EXPECT_EQ(profiles[0].name, "small");
  EXPECT_EQ(profiles[0].inputs.at("x"), (ShapeRange{{1, 3}, {2, 3}, {4, 3}}));
  EXPECT_EQ(profiles[0].dims.at("n"), (DimRange{1, 2, 4}));
  EXPECT_EQ(profiles[1].inputs.at("x"), (ShapeRange{{5, 3}, {5, 3}, {5, 3}}));
  EXPECT_EQ(profiles[2].name, "default");
  EXPECT_EQ(profiles[2].dims.at("batch"), (DimRange{8, 8, 8}));
}

TEST(Values, SayWhatIsWrong) {
  EXPECT_EQ(usage_error([] { parse_profiles({}, {"n=1:2"}); }),
            "--dim: expected NAME=MIN:OPT:MAX or NAME=FIXED, and @PROFILE after it if there are several, "
            "found 'n=1:2'");
  EXPECT_EQ(usage_error([] {
              parse_profiles({}, {"n=1", "n=2"});
            }),
            "--dim: expected each dimension once in a profile, found 'n=2'");
  EXPECT_EQ(usage_error([] { parse_assignment("--input", "x="); }),
            "--input: expected NAME=VALUE, found 'x='");
  EXPECT_EQ(usage_error([] {
              parse_sizes("--dim", {"n=1", "n=1"});
            }),
            "--dim: expected each name once, found 'n=1'");
}

// Percentiles by the nearest-rank definition, as of numpy.percentile(v, p, method="inverted_cdf").
TEST(Timings, PercentilesAreMeasuredValues) {
  std::vector<double> values;
  for (int i = 200; i > 0; --i) values.push_back(i);
  const Timings t = summarize(values);
  EXPECT_EQ(t.count, 200u);
  EXPECT_EQ(t.min, 1);
  EXPECT_EQ(t.mean, 100.5);
  EXPECT_EQ(t.p50, 100);
  EXPECT_EQ(t.p90, 180);
  EXPECT_EQ(t.p95, 190);
  EXPECT_EQ(t.p99, 198);
  EXPECT_EQ(t.max, 200);
  EXPECT_EQ(summarize({3}).p50, 3);
}

TEST(Values, ReadsTrtexecLists) {
  EXPECT_EQ(parse_colon_list("--shapes", "x:1x3,input:0:2x2,y=8"),
            (std::vector<std::string>{"x=1x3", "input:0=2x2", "y=8"}));
  for (const char* text : {"", "x", ":1", "x:", "x:1,,y:2", "x:1,"})
    EXPECT_THROW(parse_colon_list("--shapes", text), UsageError) << text;
}

TEST(Values, ReadsPercentiles) {
  EXPECT_EQ(parse_percentiles("--percentile", "50,99.9,100"), (std::vector<double>{50, 99.9, 100}));
  for (const char* text : {"", "0", "101", "90,", "nan", "9x"})
    EXPECT_THROW(parse_percentiles("--percentile", text), UsageError) << text;
}

}  // namespace
}  // namespace ingot::cli
