// Files of format version 1 that every later reader must open, and that the writer must still write: one
// plain, one with weights that can be replaced. When a change of the format is meant, see the end of
// FORMAT.md; INGOT_NEW_GOLDEN=FOLDER writes what this version makes of the graphs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "engine/header.h"
#include "engine/test_engines.h"
#include "ingot/version.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

struct Golden {
  std::string name;
  EngineContent (*content)();

  std::string path() const { return std::string(INGOT_TEST_DATA "/") + name; }
  Tensor file() const {
    const std::string bytes = read_file(path());
    return aligned_copy(std::as_bytes(std::span(bytes)));
  }
};

constexpr std::string_view kText = R"(graph "golden" {
  metadata "labels" = "cat\ndog"
  symbol n in [1, 8]
  %0 = input "x" : f32[n, 4, 9, 9]
  %1 = input "choice" : bool[]
  %2 = constant f32[4, 1, 1] [0.5, -1, 2, 3]
  %3 = add(%0, %2) : f32[n, 4, 9, 9] @"/block/Add"
  %4 = if(%1, %3) (graph "then" {
    %0 = input "v" : f32[n, 4, 9, 9]
    %1 = relu(%0) : f32[n, 4, 9, 9]
    output "r" = %1
  }, graph "else" {
    %0 = input "v" : f32[n, 4, 9, 9]
    output "r" = %0
  }) : f32[n, 4, 9, 9]
  %5:2 = max_pool(%4) {kernel = [3, 3], auto_pad = "same_upper"} : f32[n, 4, 9, 9], i64[n, 4, 9, 9]
  %6 = lp_pool(%4) {kernel = [2, 2], p = 1.5} : f32[n, 4, 8, 8]
  %7 = cast(%6) {to = f16, saturate = false} : f16[n, 4, 8, 8]
  %8 = constant i4[5] [-8, -1, 0, 1, 7]
  %9 = constant string[2] ["cat", "dog"]
  %10 = constant u8[1500] WEIGHTS
  output "pooled" = %5#0
  output "where" = %5#1
  output "half" = %7
  output "nibbles" = %8
  output "labels" = %9
  output "weights" = %10
})";

EngineContent golden_content() {
  std::string text(kText), weights = "0x";
  const Tensor content_of_weights = filled(1500, 3);
  for (std::byte b : content_of_weights.bytes()) weights += fmt::format("{:02x}", std::to_integer<int>(b));
  text.replace(text.find("WEIGHTS"), 7, weights);
  EngineContent content{.graph = parse_graph(text)};
  content.profiles = {{"p", {{"x", {{1, 4, 9, 9}, {2, 4, 9, 9}, {4, 4, 9, 9}}}}, {}},
                      {"q", {}, {{"n", {1, 1, 8}}}}};
  content.targets = {"cuda", "cpu", "reference"};
  return content;
}

// The same graph; the constant that the block adds and the large one can be replaced.
EngineContent refit_content() {
  EngineContent content = golden_content();
  content.refit = RefitMode::individual;
  content.structure = sha256("structure");
  const int32_t constants[] = {2, 10};
  for (const int32_t node : constants)
    content.weights.push_back({node == 2 ? "/block/weight" : "/weights", {node}});
  return content;
}

std::vector<Golden> goldens() {
  return {{"engine_v1.ingot", golden_content}, {"engine_v1_refit.ingot", refit_content}};
}

// Without header and digests, and with a stand-in for the producer, whose version goes its own way.
std::string comparable(std::span<const std::byte> bytes) {
  std::string producer = producer_text(decode_header(bytes).producer_version);
  std::string rest(reinterpret_cast<const char*>(bytes.data()) + kMetadataOffset,
                   bytes.size() - kMetadataOffset);
  size_t at = rest.find(producer);
  EXPECT_NE(at, std::string::npos);
  return at == std::string::npos ? rest : rest.replace(at, producer.size(), producer.size(), '?');
}

TEST(GoldenEngine, OpensAndMeansTheSame) {
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    const Tensor file = golden.file();
    verify_engine(file.bytes(), golden.path());
    const EngineContent content = read_engine(file.bytes(), nullptr, golden.path()),
                        expected = golden.content();
    EXPECT_EQ(print(content.graph), print(expected.graph));
    EXPECT_EQ(content.profiles, expected.profiles);
    EXPECT_EQ(content.targets, expected.targets);
    EXPECT_EQ(content.refit, expected.refit);
    EXPECT_EQ(content.structure, expected.structure);
    ASSERT_EQ(content.weights.size(), expected.weights.size());
    for (size_t i = 0; i < content.weights.size(); ++i) {
      EXPECT_EQ(content.weights[i].name, expected.weights[i].name);
      EXPECT_EQ(content.weights[i].nodes, expected.weights[i].nodes);
    }
    EXPECT_EQ(decode_header(file.bytes()).format_version, 1);
  }
}

void expect_still_written(const Golden& golden) {
  const std::vector<std::byte> now = engine_bytes(golden.content());
  if (const char* folder = std::getenv("INGOT_NEW_GOLDEN"))
    std::ofstream(std::string(folder) + "/" + golden.name, std::ios::binary)
        .write(reinterpret_cast<const char*>(now.data()), static_cast<std::streamsize>(now.size()));
  const Tensor file = golden.file();
  EngineHeader then = decode_header(file.bytes());
  if (producer_text(then.producer_version).size() != producer_text(producer_version()).size())
    GTEST_SKIP() << "the version of Ingot has another length, which moves everything behind it";
  const std::string written = comparable(now), stored = comparable(file.bytes());
  const auto differs = std::ranges::mismatch(written, stored).in1 - written.begin();
  EXPECT_TRUE(written == stored) << "first difference at byte "
                                 << differs + static_cast<std::ptrdiff_t>(kMetadataOffset);
  const EngineHeader header = decode_header(now);
  then.producer_version = header.producer_version;
  EXPECT_EQ(encode_header(header), encode_header(then));
}

TEST(GoldenEngine, IsStillWhatTheWriterWrites) {
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    expect_still_written(golden);
  }
}

}  // namespace
}  // namespace ingot
