#include "tests/devices/random_graph.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>

#include "ir/op_info.h"
#include "tests/devices/check_graph.h"
#include "tests/devices/shrink.h"

// Random graphs on every device against the reference device. INGOT_RANDOM_GRAPHS says how many (500), and
// INGOT_RANDOM_FIRST the seed of the first (0).
namespace ingot::devices {
namespace {

uint64_t number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Sizes first, since smaller graphs shrink faster.
TestGraph with_smaller_sizes(uint64_t seed, const Fails& fails) {
  for (int64_t size : {2, 3, 5, 9, 17})
    if (TestGraph smaller = random_graph(seed, {.size = size}); fails(smaller)) return smaller;
  return random_graph(seed);
}

std::string report(uint64_t seed, const Target& target) {
  const Fails fails = [&](const TestGraph& graph) { return !check_graph(graph, target).empty(); };
  const TestGraph smallest = shrink(with_smaller_sizes(seed, fails), fails);
  return fmt::format("seed {} (INGOT_RANDOM_FIRST={} INGOT_RANDOM_GRAPHS=1): {}\nshrunk to: {}\n{}", seed,
                     seed, check_graph(random_graph(seed), target), check_graph(smallest, target),
                     describe(smallest));
}

// A crash must say which graph it was.
volatile std::sig_atomic_t current_seed = 0;
void name_the_seed(int signal) {
  char text[64] = "random graph with seed ";
  size_t length = 23;
  char digits[20];
  size_t count = 0;
  for (auto seed = static_cast<unsigned>(current_seed); seed != 0 || count == 0; seed /= 10)
    digits[count++] = static_cast<char>('0' + seed % 10);
  while (count > 0) text[length++] = digits[--count];
  text[length++] = '\n';
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, length);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// How many of `count` graphs fail; gives up after 20.
int failures(const Target& target, uint64_t first, uint64_t count) {
  for (int signal : {SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGBUS}) std::signal(signal, name_the_seed);
  int failed = 0;
  for (uint64_t seed = first; seed < first + count && failed < 20; ++seed) {
    current_seed = static_cast<std::sig_atomic_t>(seed);
    if (check_graph(random_graph(seed), target).empty()) continue;
    ++failed;
    ADD_FAILURE() << target.name << ": " << report(seed, target);
  }
  return failed;
}

TEST(RandomGraph, AgreesWithTheReferenceDevice) {
  const auto count = static_cast<int>(number("INGOT_RANDOM_GRAPHS", 500));
  int failed = 0, all = 0;
  for (const Target& target : targets()) {
    failed += failures(target, number("INGOT_RANDOM_FIRST", 0), static_cast<uint64_t>(count));
    all += count;
  }
  RecordProperty("cases_passed", all - failed);
  RecordProperty("cases_failed", failed);
}

TEST(RandomGraph, AgreesAtEveryLowerInstructionSet) {
  const uint64_t first = 1000000 + number("INGOT_RANDOM_FIRST", 0);
  constexpr int kGraphs = 150;
  int failed = 0, all = 0;
  for (const Target& target : targets_at_every_level()) {
    if (target.options.isa.empty()) continue;
    failed += failures(target, first, kGraphs);
    all += kGraphs;
  }
  RecordProperty("cases_passed", all - failed);
  RecordProperty("cases_failed", failed);
}

TEST(RandomGraph, IsTheSameForTheSameSeed) {
  for (uint64_t seed : {1u, 2u, 3u}) EXPECT_EQ(describe(random_graph(seed)), describe(random_graph(seed)));
}

TEST(RandomGraph, CoversTheOpsOfNetworks) {
  std::set<Op> seen;
  size_t dynamic = 0, several_outputs = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const TestGraph graph = random_graph(seed);
    for (const Node& node : graph.graph->nodes()) seen.insert(node.op);
    dynamic += graph.runs.size() > 1;
    several_outputs += graph.graph->outputs().size() > 1;
  }
  EXPECT_GE(seen.size(), 65u);
  EXPECT_GE(dynamic, 60u);
  EXPECT_GE(several_outputs, 100u);
}

}  // namespace
}  // namespace ingot::devices
