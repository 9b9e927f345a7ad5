#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/sha256.h"
#include "engine/engine_file.h"
#include "engine/header.h"
#include "ingot/builder.h"
#include "ingot/error.h"
#include "ingot/import.h"
#include "support/test_data.h"
#include "tests/mutation/counting_allocator.h"

// Damaged files by the hundred thousand, made from good ones: each must be read or refused with an Error that
// is not our own fault, within a second and within a bound of memory. Fixed seed, so a failure comes again.
namespace ingot {
namespace {

using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr size_t kLargestSeed = 4096;         // bytes
constexpr size_t kMemory = size_t{32} << 20;  // more than any seed needs by far
constexpr auto kTime = std::chrono::seconds(1);

int number_from(const char* variable, int missing) {
  const char* text = std::getenv(variable);
  return text == nullptr ? missing : std::max(std::atoi(text), 0);
}

// Of each format. INGOT_MUTATION_CASES asks for more, INGOT_MUTATION_FIRST goes straight to the case of a
// failure.
int case_count() { return number_from("INGOT_MUTATION_CASES", 200'000); }
int first_case() { return number_from("INGOT_MUTATION_FIRST", 0); }

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  Bytes operator()(const std::vector<Bytes>& seeds) {
    Bytes out = pick(seeds);
    for (size_t n = 1 + below(4); n > 0 && !out.empty(); --n) mutate(out, seeds);
    return out;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  const Bytes& pick(const std::vector<Bytes>& seeds) { return seeds[below(seeds.size())]; }

  void mutate(Bytes& b, const std::vector<Bytes>& seeds) {
    size_t at = below(b.size());
    switch (below(7)) {
      case 0: b[at] ^= std::byte{1} << below(8); break;
      case 1: b[at] = static_cast<std::byte>(below(256)); break;
      case 2: b[at] = below(2) ? std::byte{0xff} : std::byte{0x7f}; break;
      case 3: b.resize(at); break;
      case 4:
        b.erase(b.begin() + static_cast<std::ptrdiff_t>(at),
                b.begin() + static_cast<std::ptrdiff_t>(std::min(b.size(), at + 1 + below(8))));
        break;
      case 5:
        b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(8),
                 static_cast<std::byte>(below(256)));
        break;
      default: splice(b, at, pick(seeds));
    }
  }

  // Overwrites a run with one of another file.
  void splice(Bytes& b, size_t at, const Bytes& other) {
    if (other.empty()) return;
    size_t from = below(other.size()), n = std::min({1 + below(64), b.size() - at, other.size() - from});
    std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), n,
                b.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::mt19937_64 random_;
};

struct Outcome {
  int read = 0;
  int refused = 0;
};

template <class Read>
Outcome run_cases(const std::vector<Bytes>& seeds, Read read) {
  Mutator mutate(20261130);
  Outcome outcome;
  const int cases = case_count(), first = first_case();
  for (int i = 0; i < cases; ++i) {
    Bytes bytes = mutate(seeds);
    if (i < first) continue;
    reset_peak();
    size_t before = allocation_counts().live;
    auto start = Clock::now();
    try {
      read(bytes);
      ++outcome.read;
    } catch (const Error& e) {
      ++outcome.refused;
      EXPECT_NE(e.code(), ErrorCode::internal) << "case " << i << ": " << e.what();
    }
    EXPECT_LT(Clock::now() - start, kTime) << "case " << i;
    EXPECT_LT(allocation_counts().peak - before, kMemory) << "case " << i;
    if (::testing::Test::HasFailure()) break;
  }
  return outcome;
}

std::vector<Bytes> onnx_seeds(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path() / "model.onnx");
  std::ranges::sort(paths);
  std::vector<Bytes> seeds;
  for (const fs::path& path : paths) {
    if (!fs::exists(path) || fs::file_size(path) == 0 || fs::file_size(path) > kLargestSeed) continue;
    auto file = MappedFile::open(path.string());
    seeds.emplace_back(file->bytes().begin(), file->bytes().end());
  }
  return seeds;
}

// The same bytes with the right size and checksum in the header and the right digest of the metadata, where
// there are enough bytes for that; FORMAT.md says where they lie.
Bytes with_digests_repaired(Bytes bytes) {
  if (bytes.size() < kMetadataOffset) return bytes;
  EngineHeader header = decode_header(bytes);
  header.file_size = bytes.size();
  auto encoded = encode_header(header);
  std::ranges::copy(encoded, bytes.begin());
  if (!range_fits(header.metadata_offset, header.metadata_size, bytes.size())) return bytes;
  Digest digest = sha256(std::span(bytes).subspan(header.metadata_offset, header.metadata_size));
  std::ranges::copy(std::as_bytes(std::span(digest)), bytes.begin() + kHeaderSize);
  return bytes;
}

Graph import_bytes(const Bytes& bytes) { return import_onnx(bytes, nullptr, "mutant"); }

void expect_both(const Outcome& outcome) {
  EXPECT_EQ(outcome.read + outcome.refused, case_count() - first_case());
  EXPECT_GT(outcome.read, (case_count() - first_case()) / 100);
  EXPECT_GT(outcome.refused, (case_count() - first_case()) / 100);
  ::testing::Test::RecordProperty("read", outcome.read);
}

TEST(MutationTest, OnnxModelsAreReadOrRefused) {
  INGOT_MODEL_OR_SKIP(folder, "onnx-1.22.0/node");
  expect_both(run_cases(onnx_seeds(folder), [](const Bytes& bytes) { (void)import_bytes(bytes); }));
}

TEST(MutationTest, EnginesAreReadOrRefused) {
  INGOT_MODEL_OR_SKIP(folder, "onnx-1.22.0/node");
  std::vector<Bytes> seeds;
  auto models = onnx_seeds(folder);
  for (size_t i = 0; i < models.size(); i += 4) {
    try {
      seeds.push_back(build_engine(import_bytes(models[i])));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::unsupported) << e.what();
    }
  }
  // Most damage breaks a digest and ends there, so half of the cases have their digests put right again.
  int count = 0;
  expect_both(run_cases(seeds, [&](const Bytes& bytes) {
    Bytes repaired = count++ % 2 == 0 ? bytes : with_digests_repaired(bytes);
    (void)read_engine(repaired, nullptr, "mutant");
  }));
}

}  // namespace
}  // namespace ingot
