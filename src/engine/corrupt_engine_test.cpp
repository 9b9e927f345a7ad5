// Engines that break one rule each, and what the reader says to them.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/header.h"
#include "engine/stored.h"
#include "engine/test_engines.h"
#include "ir/parse.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

// An engine taken apart, to be put together again with right sizes and digests.
struct Parts {
  EngineHeader header;
  stored::EngineT metadata;
  std::vector<std::byte> weights;

  stored::GraphT& main() { return *metadata.graphs.back(); }
  stored::NodeT& node(size_t i) { return *main().nodes.at(i); }
  stored::ConstantT& constant(size_t i) { return *node(i).attributes.at(0)->value.AsConstant(); }
};

constexpr std::string_view kText = R"(graph "g" {
  symbol n in [1, 8]
  %0 = input "x" : f32[n, 4]
  %1 = input "b" : bool[]
  %2 = constant f32[4] [1, 2, 3, 4]
  %3 = add(%0, %2) : f32[n, 4]
  %4 = if(%1, %3) (graph "then" {
    %0 = input "v" : f32[n, 4]
    %1 = relu(%0) : f32[n, 4]
    output "r" = %1
  }, graph "else" {
    %0 = input "v" : f32[n, 4]
    output "r" = %0
  }) : f32[n, 4]
  output "y" = %4
})";

// Nodes 5 and 6 are added to the text: two large constants.
std::vector<std::byte> good_engine() {
  Graph text = parse_graph(kText);
  GraphBuilder g("g");
  for (const Node& node : text.nodes()) {
    if (node.op == Op::Input)
      g.input(node.as<InputAttrs>().name, node.types[0]);
    else
      g.add(node.attrs, node.operands, node.subgraphs, 1);
  }
  g.output("y", text.outputs()[0].value);
  g.output("w", g.constant(filled(5000, 1)));
  g.output("v", g.constant(filled(1025, 2)));
  EngineContent content{.graph = std::move(g).finish()};
  content.profiles = {{"p", {}, {{"n", {1, 2, 4}}}}};
  content.targets = {"reference"};
  return engine_bytes(content);
}

Parts take_apart(std::span<const std::byte> bytes) {
  Parts parts{.header = decode_header(bytes), .metadata = {}, .weights = {}};
  Tensor metadata = aligned_copy(bytes.subspan(128, parts.header.metadata_size));
  stored::GetEngine(metadata.bytes().data())->UnPackTo(&parts.metadata);
  auto weights = bytes.subspan(parts.header.weights_offset);
  parts.weights.assign(weights.begin(), weights.end());
  return parts;
}

// A file around metadata that may be anything.
std::vector<std::byte> file_of(EngineHeader header, std::span<const std::byte> metadata,
                               std::span<const std::byte> weights) {
  header.metadata_size = static_cast<uint32_t>(metadata.size());
  header.weights_offset =
      weights.empty() ? 128 + metadata.size() : (128 + metadata.size() + 4095) / 4096 * 4096;
  header.file_size = header.weights_offset + weights.size();
  std::vector<std::byte> out(header.file_size);
  Digest digests[] = {sha256(metadata), sha256(weights)};
  std::ranges::copy(encode_header(header), out.begin());
  std::ranges::copy(std::as_bytes(std::span(digests)), out.begin() + 64);
  std::ranges::copy(metadata, out.begin() + 128);
  std::ranges::copy(weights, out.begin() + static_cast<std::ptrdiff_t>(header.weights_offset));
  return out;
}

std::vector<std::byte> put_together(const Parts& parts) {
  flatbuffers::FlatBufferBuilder builder;
  stored::FinishEngineBuffer(builder, stored::CreateEngine(builder, &parts.metadata));
  return file_of(parts.header, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())),
                 parts.weights);
}

Error refusal(const std::vector<std::byte>& bytes) {
  Tensor file = aligned_copy(bytes);
  return thrown_by([&] { read_engine(file.bytes(), nullptr, "bad.ingot"); });
}

struct Case {
  const char* name;
  void (*change)(Parts&);
  const char* message;  // a part of it
  ErrorCode code = ErrorCode::corrupt;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class CorruptEngine : public testing::TestWithParam<Case> {};

TEST_P(CorruptEngine, IsRefused) {
  Parts parts = take_apart(good_engine());
  GetParam().change(parts);
  Error error = refusal(put_together(parts));
  EXPECT_EQ(error.code(), GetParam().code) << error.what();
  EXPECT_NE(std::string_view(error.what()).find(GetParam().message), std::string_view::npos) << error.what();
  EXPECT_NE(std::string_view(error.what()).find("bad.ingot"), std::string_view::npos) << error.what();
}

INSTANTIATE_TEST_SUITE_P(
    All, CorruptEngine,
    testing::Values(
        Case{"UnknownOps",
             [](Parts& p) {
               p.node(3).op = "warp";
               p.metadata.graphs[0]->nodes[1]->op = "bend";
             },
             "unknown bend, warp", ErrorCode::incompatible},
        Case{"UnknownAttribute", [](Parts& p) { p.node(2).attributes[0]->name = "colour"; }, "'colour'",
             ErrorCode::incompatible},
        Case{"AttributeOfAnotherKind",
             [](Parts& p) {
               stored::IntegerT integer;
               p.node(2).attributes[0]->value.Set(std::move(integer));
             },
             "a value of the kind in the op table"},
        Case{"UnknownElementType", [](Parts& p) { p.constant(2).dtype = 99; }, "99"},
        Case{"ConstantOfTheWrongSize", [](Parts& p) { p.constant(2).shape = {5}; }, "20 bytes"},
        Case{"NegativeShape", [](Parts& p) { p.constant(2).shape = {-4}; }, "sizes of at least 0"},
        Case{"ShapeThatOverflows",
             [](Parts& p) {
               p.constant(2).shape = {1ll << 40, 1ll << 40};
             },
             "2^62"},
        Case{"ConstantWithoutContent", [](Parts& p) { p.constant(2).bytes.clear(); },
             "one of bytes, strings and blob"},
        Case{"ConstantWithTwoContents", [](Parts& p) { p.constant(2).blob = 0; },
             "one of bytes, strings and blob"},
        Case{"StringsForNumbers",
             [](Parts& p) {
               p.constant(2).bytes.clear();
               p.constant(2).strings = {"a", "b", "c", "d"};
             },
             "as its element type needs"},
        Case{"BooleanTwo",
             [](Parts& p) {
               p.constant(2).dtype = static_cast<uint8_t>(DType::boolean);
               p.constant(2).shape = {16};
             },
             "0 or 1 for a bool"},
        Case{"LargeInlineConstant",
             [](Parts& p) {
               p.constant(2).shape = {500};
               p.constant(2).bytes.resize(2000);
             },
             "at most 1024 bytes in the metadata"},
        Case{"BlobIndex", [](Parts& p) { p.constant(5).blob = 2; }, "a blob below 2"},
        Case{"BlobOfTheWrongSize", [](Parts& p) { p.constant(5).blob = 1; }, "1025"},
        Case{"UnusedBlob",
             [](Parts& p) {
               p.metadata.blobs.emplace_back(6144, 2000);
               p.header.weight_bytes += 2000;
               p.weights.resize(6144 + 2000);
             },
             "'blob 2': expected a node that uses it"},
        Case{"BlobOutOfBounds",
             [](Parts& p) {
               p.metadata.blobs[1] = {8192, 1u << 31};
             },
             "for its blobs"},
        Case{"BlobOverflow",
             [](Parts& p) {
               p.metadata.blobs[1] = {5056, ~uint64_t{0} - 100};
             },
             "blob 1"},
        Case{"UnalignedBlob",
             [](Parts& p) {
               p.metadata.blobs[1] = {5057, 1025};
             },
             "1025 bytes at 5057"},
        Case{"OverlappingBlobs",
             [](Parts& p) {
               p.metadata.blobs[1] = {4992, 1025};
             },
             "1025 bytes at 4992"},
        Case{"GapBetweenBlobs",
             [](Parts& p) {
               p.metadata.blobs[1] = {5120, 1025};
             },
             "1025 bytes at 5120"},
        Case{"SmallBlob",
             [](Parts& p) {
               p.metadata.blobs[1] = {5056, 8};
             },
             "8 bytes at 5056"},
        Case{"WeightsTooLong", [](Parts& p) { p.weights.push_back({}); }, "for its blobs"},
        Case{"WeightsTooShort", [](Parts& p) { p.weights.pop_back(); }, "for its blobs"},
        Case{"WeightBytesInTheHeader", [](Parts& p) { --p.header.weight_bytes; }, "6025 weight bytes"},
        Case{"FeaturesInTheHeader", [](Parts& p) { p.header.features |= kStrings; },
             "features 0x2 that the graph needs"},
        Case{"StrippedWithoutList",
             [](Parts& p) {
               p.header.features |= kStrippedWeights;
               p.weights.clear();
             },
             "2 entries of missing weights"},
        Case{"SubgraphUsedTwice",
             [](Parts& p) {
               p.node(4).subgraphs = {0, 0};
             },
             "no other user"},
        Case{"SubgraphOfItself",
             [](Parts& p) {
               p.node(4).subgraphs = {0, 2};
             },
             "an earlier graph"},
        Case{"UnusedGraph",
             [](Parts& p) {
               auto copy = std::make_unique<stored::GraphT>(*p.metadata.graphs[0]);
               p.metadata.graphs.insert(p.metadata.graphs.begin() + 2, std::move(copy));
             },
             "'graph 2': expected a node that uses it"},
        Case{"NoGraph",
             [](Parts& p) {
               p.metadata.graphs.clear();
               p.metadata.graphs.shrink_to_fit();
             },
             "a graph"},
        Case{"OperandFromLater",
             [](Parts& p) {
               p.node(3).operands[0] = {5, 0};
             },
             "a value of this graph"},
        Case{"OperandOutputTooLarge",
             [](Parts& p) {
               p.node(3).operands[0] = {0, 1};
             },
             "node 0, output 1"},
        Case{"NegativeOperand",
             [](Parts& p) {
               p.node(3).operands[0] = {-2, 0};
             },
             "or -1 for none"},
        Case{"MissingOperand", [](Parts& p) { p.node(3).operands.pop_back(); }, "op add"},
        Case{"TypeIndex", [](Parts& p) { p.node(3).types[0] = 100; }, "type index"},
        Case{"TypeThatCannotBe", [](Parts& p) { p.node(3).types = p.node(1).types; }, "declared type"},
        Case{"TooManyTypes", [](Parts& p) { p.node(3).types.push_back(0); }, "1 output types"},
        Case{"TypeText", [](Parts& p) { p.metadata.types[0] = "f32[n"; }, "found the end"},
        Case{"DeepType",
             [](Parts& p) {
               std::string deep;
               for (int i = 0; i < 5000; ++i) deep += "sequence<";
               p.metadata.types[0] = deep;
             },
             "nested"},
        Case{"LongType", [](Parts& p) { p.metadata.types[0] = std::string(65537, 'f'); },
             "at most 65536 bytes"},
        Case{"SymbolRange", [](Parts& p) { p.main().symbols[0]->low = 9; }, "low end"},
        Case{"InputTable", [](Parts& p) { std::swap(p.main().inputs[0], p.main().inputs[1]); },
             "the input nodes in their order"},
        Case{"InputTableType", [](Parts& p) { p.main().inputs[0]->type = p.main().inputs[1]->type; },
             "input table"},
        Case{"OutputTableType", [](Parts& p) { p.main().outputs[0]->type = p.main().outputs[1]->type; },
             "port 'y'"},
        Case{"OutputOfNothing",
             [](Parts& p) {
               *p.main().outputs[0]->value = {-1, 0};
             },
             "a value of this graph"},
        Case{"OutputTwice", [](Parts& p) { p.main().outputs[0]->name = "w"; }, "'w' twice"},
        Case{"InputWithOperands", [](Parts& p) { p.node(1).operands.emplace_back(0, 0); }, "no operands"},
        Case{"ProfileOfNothing", [](Parts& p) { p.metadata.profiles[0]->dims[0]->name = "m"; },
             "one of the dimensions n"},
        Case{"ProfileOrder", [](Parts& p) { p.metadata.profiles[0]->dims[0]->min = 3; }, "min <= opt <= max"},
        Case{"ProfileRange", [](Parts& p) { p.metadata.profiles[0]->dims[0]->max = 9; }, "n within 1..8"}),
    [](const auto& info) { return info.param.name; });

TEST(CorruptEngine, PartsPutTogetherUnchangedAreRead) {
  std::vector<std::byte> bytes = put_together(take_apart(good_engine()));
  verify_engine(bytes, "test");
  EXPECT_EQ(read_engine(bytes, nullptr, "test").graph.nodes().size(), 7u);
}

TEST(CorruptEngine, ShortFilesAreRefusedAtEveryLength) {
  std::vector<std::byte> bytes = good_engine();
  for (size_t n = 0; n < bytes.size(); n += n < 300 ? 1 : 97) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(refusal(cut).code(), ErrorCode::corrupt) << n;
  }
  bytes.push_back({});
  EXPECT_EQ(refusal(bytes).code(), ErrorCode::corrupt);
}

TEST(CorruptEngine, EveryFlippedBitOfTheMetadataIsNoticed) {
  std::vector<std::byte> bytes = good_engine();
  EngineHeader header = decode_header(bytes);
  for (size_t i = 64; i < 128u + header.metadata_size; ++i) {
    if (i >= 96 && i < 128) continue;  // digest of the weights: see below
    bytes[i] ^= std::byte{16};
    EXPECT_NE(std::string_view(refusal(bytes).what()).find("metadata of SHA-256"), std::string_view::npos)
        << i;
    bytes[i] ^= std::byte{16};
  }
}

// With its digest made right again, damaged metadata is either refused or means something.
TEST(CorruptEngine, NoFlippedBitOfTheMetadataIsOurFault) {
  Parts parts = take_apart(good_engine());
  std::vector<std::byte> bytes = good_engine();
  std::vector<std::byte> metadata(bytes.begin() + 128, bytes.begin() + 128 + parts.header.metadata_size);
  int read = 0, refused = 0;
  for (size_t i = 0; i < metadata.size() * 8; ++i) {
    auto bit = static_cast<std::byte>(1 << i % 8);
    metadata[i / 8] ^= bit;
    Tensor file = aligned_copy(file_of(parts.header, metadata, parts.weights));
    try {
      read_engine(file.bytes(), nullptr, "test");
      ++read;
    } catch (const Error& e) {
      ++refused;
      EXPECT_NE(e.code(), ErrorCode::internal) << e.what();
    }
    metadata[i / 8] ^= bit;
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, read);
}

TEST(VerifyEngine, FindsDamagedWeightsAndPadding) {
  std::vector<std::byte> good = good_engine();
  EngineHeader header = decode_header(good);
  auto message = [&](size_t offset) {
    std::vector<std::byte> bytes = good;
    bytes[offset] ^= std::byte{1};
    EXPECT_NO_THROW(read_engine(bytes, nullptr, "test"));  // does not look there
    return std::string(thrown_by([&] { verify_engine(bytes, "test"); }).what());
  };
  EXPECT_NE(message(header.weights_offset + 4999).find("weights of SHA-256"), std::string::npos);
  EXPECT_NE(message(header.weights_offset + 5001).find("weights of SHA-256"), std::string::npos);  // padding
  EXPECT_NE(message(header.weights_offset - 1).find("zero padding"), std::string::npos);
  EXPECT_NE(message(100).find("weights of SHA-256"), std::string::npos);
}

// A small file that names one long shape many times over.
TEST(CorruptEngine, MemoryIsBoundedByTheSizeOfTheFile) {
  Parts parts = take_apart(good_engine());
  std::string wide = "f32[n";
  for (int i = 0; i < 20000; ++i) wide += ",1";
  auto index = static_cast<uint32_t>(parts.metadata.types.size());
  parts.metadata.types.push_back(wide + "]");
  for (int i = 0; i < 20000; ++i) {
    auto node = std::make_unique<stored::NodeT>(*parts.main().nodes[0]);
    node->types = {index};
    parts.main().nodes.push_back(std::move(node));
  }
  Error error = refusal(put_together(parts));
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(std::string_view(error.what()).find("bytes in memory"), std::string_view::npos) << error.what();
}

// A chain of `if`: each level holds the level below, which has the same inputs, and a leaf.
GraphPtr nested(int levels) {
  GraphBuilder g(fmt::format("level {}", levels));
  Value condition = g.input("b", Type::tensor(DType::boolean, {}));
  Value v = g.input("v", Type::tensor(DType::f32, {4}));
  if (levels > 0) v = g.add(IfAttrs{}, {condition, condition, v}, {nested(levels - 1), nested(0)}, 1)[0];
  g.output("r", v);
  return std::make_shared<const Graph>(std::move(g).finish());
}

TEST(CorruptEngine, SubgraphsNestAtMost64Deep) {
  std::vector<std::byte> bytes = engine_bytes({.graph = *nested(64)});
  EXPECT_NO_THROW(read_engine(bytes, nullptr, "test"));
  Parts parts = take_apart(bytes);
  auto& graphs = parts.metadata.graphs;
  auto size = static_cast<uint32_t>(graphs.size());
  graphs.push_back(std::make_unique<stored::GraphT>(*graphs[0]));         // a leaf
  graphs.push_back(std::make_unique<stored::GraphT>(*graphs[size - 1]));  // one more level
  parts.node(2).subgraphs = {size - 1, size};
  Error error = refusal(put_together(parts));
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(std::string_view(error.what()).find("64 levels"), std::string_view::npos) << error.what();
}

}  // namespace
}  // namespace ingot
