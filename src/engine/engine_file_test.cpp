#include "engine/engine_file.h"

#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "engine/test_engines.h"
#include "ingot/validity.h"
#include "ingot/version.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace ingot {
namespace {

const Tensor& constant_of(const Graph& graph, size_t index = 0) {
  return graph.nodes().at(index).as<ConstantAttrs>().value;
}

// Constants of what comes back are views of the bytes, which live as long as it does.
EngineContent reread(const EngineContent& content) {
  auto bytes = std::make_shared<std::vector<std::byte>>(engine_bytes(content));
  return read_engine(*bytes, bytes, "test");
}

// What comes back prints as what went in.
void expect_round_trip(const std::string& text) {
  EngineContent content{.graph = parse_graph(text)};
  std::vector<std::byte> bytes = engine_bytes(content);
  EngineContent back = read_engine(bytes, nullptr, "test");
  EXPECT_EQ(print(back.graph), print(content.graph));
  verify_engine(bytes, "test");
}

TEST(EngineFile, KeepsNodesTypesSymbolsOriginsAndNotes) {
  expect_round_trip(R"(graph "scorer" {
    metadata "labels" = "cat\ndog"
    metadata "licence" = "free"
    symbol batch in [1, 64]
    %0 = input "x" : f32[batch, 3, "odd name"]
    %1 = input "y" : f32[2*batch + 1, floordiv(n, 2)]
    %2 = input "z" : f32[*]
    %3 = relu(%0) : f32[batch, 3, "odd name"] @"/head/Relu"
    %4 = transpose(%1) {permutation = [1, 0]} : f32[floordiv(n, 2), 2*batch + 1]
    %5 = add(%2, %2) : f32[*]
    output "a" = %3
    output "b" = %4
    output "c" = %5
    output "a again" = %3
  })");
}

TEST(EngineFile, KeepsEveryKindOfAttribute) {
  expect_round_trip(R"(graph "" {
    %0 = input "x" : f32[1, 4, 9, 9]
    %1 = cast(%0) {to = f8e4m3fn, saturate = false, round_mode = "nearest"} : f8e4m3fn[1, 4, 9, 9]
    %2 = shape_of(%0) {start = -3, end = 4} : i64[3]
    %3 = lp_pool(%0) {kernel = [2, 2], strides = [3, 1], p = 1.5} : f32[1, 4, 3, 8]
    %4:2 = max_pool(%0) {kernel = [3, 3], auto_pad = "same_upper"} : f32[1, 4, 9, 9], i64[1, 4, 9, 9]
    %5 = input "rois" : f32[7, 5]
    %6 = max_roi_pool(%0, %5) {pooled = [2, 2], spatial_scale = -0.0} : f32[7, 4, 2, 2]
    output "a" = %1
    output "b" = %2
    output "c" = %3
    output "d" = %4#1
    output "e" = %6
  })");
}

TEST(EngineFile, KeepsSubgraphs) {
  expect_round_trip(R"(graph "branches" {
    symbol n in [1, 8]
    %0 = input "b" : bool[]
    %1 = input "x" : f32[n]
    %2 = if(%0, %1) (graph "then" {
      symbol n in [2, 3]
      %0 = input "v" : f32[n]
      %1 = relu(%0) : f32[n]
      output "r" = %1
    }, graph "else" {
      %0 = input "v" : f32[m]
      output "r" = %0
    }) : f32[n]
    output "y" = %2
  })");
}

TEST(EngineFile, KeepsConstantsOfEveryElementType) {
  for (std::string_view name :
       {"f64",    "f32",    "f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz",
        "f8e8m0", "f4e2m1", "i64", "i32",  "i16",      "i8",     "i4",         "i2",
        "u64",    "u32",    "u16", "u8",   "u4",       "u2",     "bool"}) {
    DType dtype = parse_dtype(name).value();
    for (int64_t count : {0, 1, 5, 4999}) {
      Tensor t = Tensor::allocate(dtype, {count});
      for (size_t i = 0; i < t.bytes().size(); ++i)
        t.mutable_bytes()[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : i * 7);
      Graph back = reread({.graph = graph_of({t})}).graph;
      EXPECT_TRUE(constant_of(back).identical(t)) << name << " " << count;
    }
  }
}

TEST(EngineFile, KeepsStrings) {
  Tensor t = Tensor::of_strings({2, 2}, {"", "na\xc3\xafve", std::string("a\0b", 3), std::string(5000, 'x')});
  Graph back = reread({.graph = graph_of({t})}).graph;
  EXPECT_TRUE(constant_of(back).identical(t));
}

TEST(EngineFile, KeepsProfilesAndTargets) {
  EngineContent content{.graph = parse_graph(R"(graph "" {
    %0 = input "x" : f32[batch, 3, n]
    output "y" = %0
  })")};
  content.profiles = {{"small", {{"x", {{1, 3, 8}, {2, 3, 8}, {4, 3, 16}}}}, {}},
                      {"wide", {}, {{"n", {1, 2, 3}}}}};
  content.targets = {"cuda", "reference"};
  EngineContent back = reread(content);
  EXPECT_EQ(back.profiles, content.profiles);
  EXPECT_EQ(back.targets, content.targets);
  EXPECT_EQ(back.producer, "Ingot " + std::string(version()));
}

TEST(EngineFile, StoresEqualConstantsOnce) {
  // Differs only where no sample is taken.
  Tensor other = filled(5000, 1);
  other.mutable_bytes()[100] ^= std::byte{1};
  Tensor same = filled(5000, 1);
  EngineContent content{.graph = graph_of({filled(5000, 1), same, other, same.reshaped({50, 100})})};
  MemorySink sink;
  EXPECT_EQ(write_engine(content, sink).weight_bytes, 10000u);
  std::vector<std::byte> bytes = sink.take();
  Graph back = read_engine(bytes, nullptr, "test").graph;
  EXPECT_EQ(print(back), print(content.graph));
  EXPECT_EQ(constant_of(back, 0).bytes().data(), constant_of(back, 3).bytes().data());
}

TEST(EngineFile, ConstantsAreAlignedViewsIntoTheFile) {
  Tensor file =
      aligned_copy(engine_bytes({.graph = graph_of({filled(1025, 1), filled(5000, 1), filled(1025, 2)})}));
  Graph back = read_engine(file.bytes(), nullptr, "test").graph;
  auto offset = [&](size_t i) { return constant_of(back, i).bytes().data() - file.bytes().data(); };
  EXPECT_EQ(offset(0), 4096);  // the section starts at a page
  EXPECT_EQ(offset(1), 8192);  // so does each large blob
  EXPECT_EQ(offset(2), 8192 + 5056);
}

TEST(EngineFile, ReadsBytesAtAnyAddress) {
  std::vector<std::byte> bytes = engine_bytes({.graph = graph_of({filled(5000, 1)})});
  bytes.insert(bytes.begin(), std::byte{0});
  Graph back = read_engine(std::span(bytes).subspan(1), nullptr, "test").graph;
  EXPECT_TRUE(constant_of(back).identical(filled(5000, 1)));
}

TEST(EngineFile, StrippedEnginesTellWhatTheyLack) {
  EngineContent content{.graph = graph_of({filled(5000, 1), filled(1024, 2), filled(9000, 3)})};
  content.stripped = true;
  std::vector<std::byte> bytes = engine_bytes(content);
  EXPECT_LT(bytes.size(), 4096u);
  EngineContent back = read_engine(bytes, nullptr, "test");
  verify_engine(bytes, "test");
  EXPECT_TRUE(back.stripped);
  ASSERT_EQ(back.missing.size(), 2u);
  EXPECT_EQ(back.missing[1].name, "weight 2");
  EXPECT_EQ(back.missing[1].size, 9000u);
  EXPECT_EQ(back.missing[1].sha256, sha256(filled(9000, 3).bytes()));
  EXPECT_TRUE(constant_of(back.graph, 1).identical(filled(1024, 2)));
  EXPECT_EQ(constant_of(back.graph, 2).bytes()[8999], std::byte{0});
  EngineValidity validity = check_engine_header(bytes);
  EXPECT_EQ(validity.status, EngineStatus::suboptimal);
  EXPECT_TRUE(validity.has(EngineReason::weights_stripped));
  EXPECT_EQ(validity.weight_bytes, 14000u);
}

TEST(EngineFile, ThreadsDoNotChangeTheBytes) {
  EngineContent content{.graph = graph_of({filled(9 << 20, 1), filled(5000, 1), filled(4 << 20, 2)})};
  ThreadPool pool(3);
  MemorySink sink;
  write_engine(content, sink, &pool);
  EXPECT_EQ(sha256(sink.take()), sha256(engine_bytes(content)));
}

}  // namespace
}  // namespace ingot
