#include <gtest/gtest.h>

#include "ingot/error.h"
#include "runtime/test_engines.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

class Validity : public ::testing::Test {
 protected:
  std::string write(const Graph& graph) const {
    const auto bytes = engine_bytes(graph);
    return folder_.write("a.ingot", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // One reason, which names what to do.
  static void expect(const EngineValidity& validity, EngineStatus status, EngineReason reason) {
    EXPECT_EQ(validity.status, status);
    EXPECT_EQ(validity.reasons, static_cast<uint32_t>(reason));
    ASSERT_EQ(validity.findings.size(), 1u);
    EXPECT_NE(validity.findings[0].text.find("expected "), std::string::npos) << validity.findings[0].text;
    EXPECT_NE(validity.findings[0].text.find("found "), std::string::npos) << validity.findings[0].text;
    EXPECT_FALSE(validity.findings[0].remedy.empty());
  }

  TempFolder folder_;
};

TEST_F(Validity, TooLittleMemoryForTheWeights) {
  const std::string path = write(weights_graph());  // 4,000 bytes
  const Runtime enough(quiet_logger(), {.cache_folder = "", .weight_memory_limit = 4000});
  EXPECT_EQ(enough.check_validity(path).status, EngineStatus::valid);
  EXPECT_NO_THROW(enough.open(path));
  const Runtime little(quiet_logger(), {.cache_folder = "", .weight_memory_limit = 3999});
  expect(little.check_validity(path), EngineStatus::invalid, EngineReason::too_little_memory);
  const Error error = thrown_by([&] { little.open(path); });
  EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  EXPECT_NE(std::string_view(error.what()).find("expected at most 3999 bytes"), std::string_view::npos)
      << error.what();
}

TEST_F(Validity, StreamedWeightsNeedTheirBudgetOnly) {
  const std::string path = write(weights_graph());
  const Runtime runtime(quiet_logger(),
                        {.cache_folder = "", .weight_streaming_budget = 100, .weight_memory_limit = 200});
  EXPECT_EQ(runtime.check_validity(path).status, EngineStatus::valid);
  EXPECT_NO_THROW(runtime.open(path));
}

TEST_F(Validity, AnInstructionSetThatTheProcessorLacks) {
  const std::string path = write(affine_graph());
  for (const char* isa : {"amx", "sse5"}) {
    const Runtime runtime(quiet_logger(), {.isa = isa, .cache_folder = ""});
    const EngineValidity validity = runtime.check_validity(path);
    if (validity.status == EngineStatus::valid) continue;  // this one has it
    expect(validity, EngineStatus::invalid, EngineReason::missing_device_feature);
    EXPECT_THROW(runtime.open(path), Error);
  }
}

TEST_F(Validity, VerifyFindsWhatTheHeaderDoesNotShow) {
  const Runtime runtime(quiet_logger(), {.cache_folder = ""});
  const std::string path = write(weights_graph());
  EXPECT_EQ(runtime.verify(path).status, EngineStatus::valid);
  std::string bytes = read_file(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of the weights
  const std::string damaged = folder_.write("damaged", bytes);
  EXPECT_EQ(runtime.check_validity(damaged).status, EngineStatus::valid);
  expect(runtime.verify(damaged), EngineStatus::invalid, EngineReason::hash_mismatch);
  bytes[200] = static_cast<char>(bytes[200] ^ 1);  // of the metadata, so loading fails as well
  expect(runtime.verify(folder_.write("worse", bytes)), EngineStatus::invalid, EngineReason::hash_mismatch);
  EXPECT_THROW(runtime.open(folder_.file("worse")), Error);
}

TEST_F(Validity, InvalidMeansThatLoadingFails) {
  const Runtime runtime(quiet_logger(), {.cache_folder = ""});
  const std::string whole = read_file(write(weights_graph()));
  int invalid = 0;
  for (size_t i = 0; i < 64; ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    const std::string path = folder_.write("flipped", bytes);
    if (runtime.check_validity(path).status != EngineStatus::invalid) continue;
    ++invalid;
    EXPECT_THROW(runtime.open(path), Error) << i;
  }
  EXPECT_EQ(invalid, 64);
  for (size_t size : {size_t{0}, size_t{7}, size_t{63}, size_t{128}, whole.size() - 1}) {
    const std::string path = folder_.write("cut", whole.substr(0, size));
    EXPECT_EQ(runtime.check_validity(path).status, EngineStatus::invalid) << size;
    EXPECT_THROW(runtime.open(path), Error) << size;
  }
}

}  // namespace
}  // namespace ingot
