#include "import/onnx/messages.h"

#include "base/bytes.h"
#include "import/onnx/wire_bytes.h"
#include "support/thrown_by.h"

namespace ingot {
namespace {

using namespace wire_bytes;

const std::string kIrVersion = number(1, 10);

std::string model_of(const std::string& graph) { return kIrVersion + block(7, graph); }
std::string node_of(const std::string& more) { return block(1, block(4, "If") + more); }
std::string tensor_of(const std::string& more) { return number(2, 1) + block(8, "w") + more; }
std::string attribute_of(const std::string& more) { return block(5, block(1, "a") + more); }

Error model_error(const std::string& bytes) {
  return thrown_by([&] { parse_onnx_model(bytes_of(bytes), "m.onnx"); });
}

std::string refusal(std::string_view reason) {
  return fmt::format(
      "ONNX file 'm.onnx': {}. The file is damaged or is no ONNX file: export or download it again.", reason);
}

void expect_refused(const std::string& bytes, std::string_view reason) {
  const Error e = model_error(bytes);
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
  EXPECT_EQ(e.what(), refusal(reason));
}

TEST(OnnxMessages, ReadsModelGraphAndNode) {
  const std::string node = block(1, "x") + block(1, "") + block(2, "y") + block(3, "n") + block(4, "Clip") +
                           block(7, "ai.onnx") + block(8, "o") + block(9, block(1, "k") + block(2, "v"));
  const std::string graph = block(1, node) + block(2, "g") + block(16, block(1, "gk"));
  const std::string bytes = kIrVersion + block(2, "maker") + block(3, "1.0") + block(4, "d") + number(5, 3) +
                            block(6, "doc") + block(7, graph) +
                            block(8, block(1, "ai.onnx.ml") + number(2, 5)) + block(8, number(2, 21)) +
                            block(14, block(1, "mk") + block(2, "mv"));
  const OnnxModel model = parse_onnx_model(bytes_of(bytes), "m.onnx");
  EXPECT_EQ(model.ir_version, 10);
  EXPECT_EQ(model.producer_name, "maker");
  EXPECT_EQ(model.producer_version, "1.0");
  EXPECT_EQ(model.domain, "d");
  EXPECT_EQ(model.model_version, 3);
  EXPECT_EQ(model.doc_string, "doc");
  ASSERT_EQ(model.opsets.size(), 2u);
  EXPECT_EQ(model.opsets[0].domain, "ai.onnx.ml");
  EXPECT_EQ(model.opsets[1].version, 21);
  ASSERT_EQ(model.metadata.size(), 1u);
  EXPECT_EQ(model.metadata[0].value, "mv");
  EXPECT_EQ(model.graph.name, "g");
  EXPECT_EQ(model.graph.metadata[0].key, "gk");
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  const OnnxNode& clip = model.graph.nodes[0];
  EXPECT_EQ(clip.inputs, (std::vector<std::string_view>{"x", ""}));
  EXPECT_EQ(clip.outputs, (std::vector<std::string_view>{"y"}));
  EXPECT_EQ(clip.op_type, "Clip");
  EXPECT_EQ(clip.name, "n");
  EXPECT_EQ(clip.domain, "ai.onnx");
  EXPECT_EQ(clip.overload, "o");
  EXPECT_EQ(clip.metadata[0].value, "v");
  EXPECT_EQ(clip.offset, bytes.find(node));
}

TEST(OnnxMessages, ReadsValueTypes) {
  const std::string shape =
      block(2, block(1, number(1, 3)) + block(1, block(2, "N")) + block(1, "") + block(1, number(1, -1)));
  const std::string tensor = block(1, number(1, 1) + shape);
  const std::string map = block(5, number(1, 7) + block(2, block(4, block(1, block(1, number(1, 8))))));
  const std::string graph =
      block(11, block(1, "x") + block(2, tensor)) +
      block(11, block(1, "u") + block(2, block(1, number(1, 9)))) + block(12, block(1, "m") + block(2, map)) +
      block(12, block(1, "o") + block(2, block(9, block(1, tensor)))) +
      block(13, block(1, "s") + block(2, block(8, number(1, 11)))) + block(13, block(1, "none"));
  const std::string bytes = model_of(graph);
  const OnnxGraph g = parse_onnx_model(bytes_of(bytes), "m.onnx").graph;

  const OnnxType& x = g.inputs[0].type;
  EXPECT_EQ(x.kind, OnnxType::Kind::tensor);
  EXPECT_EQ(x.elem_type, 1);
  ASSERT_TRUE(x.shape.has_value());
  ASSERT_EQ(x.shape->size(), 4u);
  EXPECT_EQ((*x.shape)[0].value, 3);
  EXPECT_EQ((*x.shape)[1].param, "N");
  EXPECT_FALSE((*x.shape)[2].value.has_value());
  EXPECT_FALSE((*x.shape)[3].value.has_value()) << "-1 means unknown";
  EXPECT_FALSE(g.inputs[1].type.shape.has_value());

  const OnnxType& m = g.outputs[0].type;
  EXPECT_EQ(m.kind, OnnxType::Kind::map);
  EXPECT_EQ(m.key_type, 7);
  EXPECT_EQ(m.element.at(0).kind, OnnxType::Kind::sequence);
  EXPECT_EQ(m.element[0].element.at(0).elem_type, 8);
  EXPECT_EQ(g.outputs[1].type.kind, OnnxType::Kind::optional);
  EXPECT_EQ(g.outputs[1].type.element.at(0).shape->size(), 4u);
  EXPECT_EQ(g.value_info[0].type.kind, OnnxType::Kind::sparse_tensor);
  EXPECT_EQ(g.value_info[1].type.kind, OnnxType::Kind::none);
}

TEST(OnnxMessages, ReadsEveryKindOfAttribute) {
  const std::string tensor = tensor_of("");
  const std::string sparse = block(1, tensor) + block(2, number(2, 7)) + number(3, 9);
  auto attribute = [](const char* name, int type, const std::string& value) {
    return block(5, block(1, name) + value + (type == 0 ? "" : number(20, type)));
  };
  const std::string bytes = model_of(node_of(
      attribute("f", 1, fixed32(2, 0.5f)) + attribute("i", 2, number(3, -4)) +
      attribute("s", 3, block(4, "text")) + attribute("t", 4, block(5, tensor)) +
      attribute("g", 5, block(6, block(2, "then"))) +
      attribute("fs", 6, block(7, little_endian(1.f) + little_endian(2.f))) +
      attribute("is", 0, number(8, 5)) + attribute("ss", 8, block(9, "a") + block(9, "b")) +
      attribute("ts", 9, block(10, tensor) + block(10, tensor)) +
      attribute("gs", 10, block(11, "") + block(11, "")) + attribute("st", 11, block(22, sparse)) +
      attribute("sts", 12, block(23, sparse)) + attribute("tp", 13, block(14, block(1, number(1, 1)))) +
      attribute("tps", 14, block(15, block(1, number(1, 1)))) + attribute("zero", 2, "") +
      attribute("empty", 7, "")));
  const OnnxModel model = parse_onnx_model(bytes_of(bytes), "m.onnx");
  const std::vector<OnnxAttribute>& a = model.graph.nodes.at(0).attributes;
  ASSERT_EQ(a.size(), 16u);
  EXPECT_EQ(a[0].f, 0.5f);
  EXPECT_EQ(a[1].i, -4);
  EXPECT_EQ(a[2].s, "text");
  EXPECT_EQ(a[3].tensors.at(0).name, "w");
  EXPECT_EQ(a[4].graphs.at(0).name, "then");
  EXPECT_EQ(a[5].floats, (std::vector<float>{1, 2}));
  EXPECT_EQ(a[6].type, OnnxAttributeType::ints) << "set from the value where the file leaves it out";
  EXPECT_EQ(a[6].ints, (std::vector<int64_t>{5}));
  EXPECT_EQ(a[7].strings, (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(a[8].tensors.size(), 2u);
  EXPECT_EQ(a[9].graphs.size(), 2u);
  EXPECT_EQ(a[10].sparse_tensors.at(0).dims, (std::vector<int64_t>{9}));
  EXPECT_EQ(a[11].sparse_tensors.at(0).values.name, "w");
  EXPECT_EQ(a[12].types.size(), 1u);
  EXPECT_EQ(a[13].types.size(), 1u);
  EXPECT_EQ(a[14].i, 0) << "proto3 writers leave zeros out";
  EXPECT_TRUE(a[15].ints.empty());
}

TEST(OnnxMessages, ReadsFunctions) {
  const std::string function = block(1, "Gelu") + block(4, "x") + block(5, "y") + block(6, "alpha") +
                               block(7, block(4, "Erf") + attribute_of(number(20, 1) + block(21, "alpha"))) +
                               block(9, number(2, 18)) + block(10, "my") + block(13, "v2") +
                               block(11, block(1, "beta") + number(3, 2)) + block(12, block(1, "x"));
  const std::string bytes = kIrVersion + block(7, "") + block(25, function);
  const OnnxModel model = parse_onnx_model(bytes_of(bytes), "m.onnx");
  const OnnxFunction& f = model.functions.at(0);
  EXPECT_EQ(f.name, "Gelu");
  EXPECT_EQ(f.domain, "my");
  EXPECT_EQ(f.overload, "v2");
  EXPECT_EQ(f.inputs.at(0), "x");
  EXPECT_EQ(f.outputs.at(0), "y");
  EXPECT_EQ(f.attributes.at(0), "alpha");
  EXPECT_EQ(f.attribute_defaults.at(0).i, 2);
  EXPECT_EQ(f.opsets.at(0).version, 18);
  EXPECT_EQ(f.value_info.at(0).name, "x");
  EXPECT_EQ(f.nodes.at(0).attributes.at(0).ref_attr_name, "alpha");
}

TEST(OnnxMessages, RawDataIsAViewOfTheFile) {
  const std::string bytes = model_of(block(5, tensor_of(number(1, 2) + number(1, 1) + block(9, "12345678"))));
  const OnnxModel model = parse_onnx_model(bytes_of(bytes), "m.onnx");
  const OnnxTensor& tensor = model.graph.initializers.at(0);
  EXPECT_EQ(tensor.dims, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(reinterpret_cast<const char*>(tensor.raw_data.data()), bytes.data() + bytes.find("12345678"));
  EXPECT_EQ(tensor.raw_data.size(), 8u);
  EXPECT_EQ(tensor.field, OnnxDataField::raw_data);
}

TEST(OnnxMessages, ErrorsNameTheWholePathOfAField) {
  std::string nodes;
  for (int i = 0; i < 12; ++i) nodes += node_of("");
  const std::string attributes = attribute_of(number(3, 1)) + attribute_of(number(3, 1));
  const std::string tensor = number(2, 1) + key(9, 2) + varint(9) + "abc";
  const std::string bytes = model_of(nodes + node_of(attributes + attribute_of(block(5, tensor))));
  expect_refused(bytes,
                 fmt::format("expected a length of at most 3 bytes, the rest of the message, found 9 in "
                             "graph.node[12].attribute[2].t.raw_data at byte {}",
                             bytes.size() - 4));
}

TEST(OnnxMessages, RefusesMissingFields) {
  expect_refused("", "expected the field ir_version, found none in the 0 bytes of the file at byte 0");
  expect_refused(kIrVersion, "expected the field graph, found none in the 2 bytes of the file at byte 0");
  expect_refused(model_of(block(1, "")),
                 "expected the field graph.node[0].op_type, found none in the 0 bytes of "
                 "graph.node[0] at byte 6");
  expect_refused(model_of(block(11, "")),
                 "expected the field graph.input[0].name, found none in the 0 bytes of "
                 "graph.input[0] at byte 6");
  expect_refused(model_of(block(5, block(8, "w"))),
                 "expected the field graph.initializer[0].data_type, found none "
                 "in the 3 bytes of graph.initializer[0] at byte 6");
  expect_refused(model_of(block(5, number(2, 1))),
                 "expected a name, found none in graph.initializer[0] at byte 5");
  expect_refused(model_of(block(15, block(2, number(2, 7)))),
                 "expected the field graph.sparse_initializer[0].values, found none in the 4 bytes of "
                 "graph.sparse_initializer[0] at byte 6");
  expect_refused(model_of("") + block(25, ""),
                 "expected the field functions[0].name, found none in the 0 bytes of functions[0] at byte 7");
}

TEST(OnnxMessages, RefusesTypesWithoutTheTypeOfTheirElements) {
  for (const auto& [field, name] : {std::pair{4u, "sequence_type.elem_type"},
                                    {5u, "map_type.value_type"},
                                    {9u, "optional_type.elem_type"}}) {
    const Error e = model_error(model_of(block(11, block(1, "x") + block(2, block(field, "")))));
    EXPECT_EQ(e.parts().expected, fmt::format("the field graph.input[0].type.{}", name));
  }
}

TEST(OnnxMessages, RefusesSecondCopiesOfSingleMessages) {
  expect_refused(model_of("") + block(7, ""), "expected one of them, found a second one in graph at byte 5");
  expect_refused(model_of(node_of(attribute_of(block(6, "") + block(6, "")))),
                 "expected one of them, found a second one in graph.node[0].attribute[0].g at byte 18");
  expect_refused(
      model_of(block(11, block(1, "x") + block(2, block(1, "") + block(4, "")))),
      "expected one kind of type, found a second one in graph.input[0].type.sequence_type at byte 13");
}

TEST(OnnxMessages, RefusesAttributesThatDisagreeWithTheirType) {
  const std::string where = " in graph.node[0].attribute[0]";
  expect_refused(model_of(node_of(block(5, number(3, 1)))),
                 "expected the field graph.node[0].attribute[0].name, found none in the 2 bytes of "
                 "graph.node[0].attribute[0] at byte 12");
  expect_refused(model_of(node_of(attribute_of(""))),
                 "expected the field graph.node[0].attribute[0].type, found none in the 3 bytes of "
                 "graph.node[0].attribute[0] at byte 12");
  expect_refused(model_of(node_of(attribute_of(number(3, 1) + block(4, "x")))),
                 "expected a value of one type, found type 2 and type 3" + where + " at byte 18");
  expect_refused(model_of(node_of(attribute_of(number(3, 1) + number(20, 1)))),
                 "expected the type of the value, type 2, found type 1" + where + ".type at byte 19");
  expect_refused(model_of(node_of(attribute_of(number(20, 15)))),
                 "expected an attribute type from 0 to 14, found 15" + where + ".type at byte 17");
  expect_refused(model_of(node_of(attribute_of(number(20, 4)))),
                 "expected the field graph.node[0].attribute[0].t, found none in the 6 bytes of "
                 "graph.node[0].attribute[0] at byte 12");
}

TEST(OnnxMessages, RefusesImpossibleShapes) {
  expect_refused(model_of(block(5, tensor_of(number(1, 2) + number(1, -3)))),
                 "expected a dimension of at least 0, found -3 in graph.initializer[0].dims[1] at byte 14");
  expect_refused(
      model_of(block(5, tensor_of(number(1, int64_t{1} << 32) + number(1, 0) + number(1, int64_t{1} << 31)))),
      "expected at most 4611686018427387904 elements, found [4294967296, 0, 2147483648] in "
      "graph.initializer[0].dims at byte 20");
}

TEST(OnnxMessages, RefusesTensorsWithDataInSeveralPlaces) {
  expect_refused(model_of(block(5, tensor_of(block(9, "1234") + block(4, "1234")))),
                 "expected elements in one data field, found some in raw_data and some in float_data in "
                 "graph.initializer[0].float_data at byte 18");
  expect_refused(
      model_of(block(5, tensor_of(block(9, "1234") + number(14, 1)))),
      "expected external data only, found elements in raw_data too in graph.initializer[0].data_location "
      "at byte 18");
  expect_refused(
      model_of(block(5, tensor_of(number(14, 2)))),
      "expected 0 (inside) or 1 (external), found 2 in graph.initializer[0].data_location at byte 12");
}

TEST(OnnxMessages, RefusesSegmentsAsUnsupported) {
  const Error e = model_error(model_of(block(5, tensor_of(block(3, "")))));
  EXPECT_EQ(e.code(), ErrorCode::unsupported);
  EXPECT_STREQ(e.what(),
               "ONNX file 'm.onnx': expected a tensor in one piece, found one segment of a tensor in "
               "graph.initializer[0].segment at byte 11. Export it with another opset or other options; "
               "docs/onnx_coverage.md lists what is supported.");
}

TEST(OnnxMessages, RefusesGraphsNestedTooDeep) {
  std::string graph = node_of("");
  for (int i = 0; i < 33; ++i) graph = node_of(attribute_of(block(6, graph)));
  const Error e = model_error(model_of(graph));
  EXPECT_EQ(e.parts().expected, "messages nested at most 100 deep");
  EXPECT_EQ(e.parts().observed.substr(0, 33), "101 in graph.node[0].attribute[0]");
}

TEST(OnnxMessages, EveryTruncationOfAModelIsRefusedOrRead) {
  const std::string graph = node_of(attribute_of(number(3, 1))) +
                            block(5, tensor_of(number(1, 1) + block(9, "1234"))) +
                            block(11, block(1, "x") + block(2, block(1, number(1, 1))));
  const std::string bytes = model_of(graph);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Error e = model_error(bytes.substr(0, size));
    EXPECT_EQ(e.code(), ErrorCode::corrupt) << size;
  }
}

TEST(OnnxMessages, ReadsSequencesAndOptionals) {
  const std::string pair = block(3, tensor_of("")) + block(3, tensor_of(""));
  const std::string bytes = block(1, "s") + pair;
  const OnnxValue sequence = parse_onnx_sequence(bytes_of(bytes), "s.pb");
  EXPECT_EQ(sequence.name, "s");
  EXPECT_EQ(sequence.tensors.size(), 2u);

  const std::string nested = block(5, bytes);
  const OnnxValue optional = parse_onnx_optional(bytes_of(nested), "o.pb");
  EXPECT_EQ(optional.kind, OnnxValue::Kind::optional);
  EXPECT_EQ(optional.values.at(0).kind, OnnxValue::Kind::sequence);
  EXPECT_EQ(optional.values[0].tensors.size(), 2u);
  EXPECT_TRUE(parse_onnx_optional({}, "o.pb").values.empty());

  const Error two = thrown_by([&] { parse_onnx_optional(bytes_of(pair), "o.pb"); });
  EXPECT_EQ(two.parts().expected, "an optional of at most one value");
  const Error map =
      thrown_by([&] { parse_onnx_sequence(bytes_of(std::string_view("\x32\x00", 2)), "s.pb"); });
  EXPECT_EQ(map.code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace ingot
