#include "import/onnx/model_summary.h"

#include "import/onnx/wire_bytes.h"
#include "support/temp_folder.h"

namespace ingot {
namespace {

using namespace wire_bytes;

std::string node(std::string_view op, std::string_view domain = "") {
  return block(1, block(1, "x") + block(2, "y") + block(4, op) + block(7, domain));
}

TEST(ModelSummary, CountsOpsOfBodiesAndFunctionsAndTellsTheUnsupported) {
  const std::string body = block(5, block(1, "then_branch") + block(6, node("Relu")) + number(20, 5));
  const std::string with_body = block(1, block(2, "z") + block(4, "If") + body);
  const std::string function = block(25, block(1, "Twice") + block(7, block(4, "Relu")) + block(10, "local"));
  const std::string weights =
      block(5, number(1, 3) + number(1, 4) + number(2, 1) + block(8, "w") + block(9, std::string(48, 'a')));
  const std::string graph = block(7, node("Relu") + node("Warp", "acme") + node("Twice", "local") +
                                         with_body + block(2, "main") + weights);
  TempFolder folder;
  const std::string path = folder.write("m.onnx", number(1, 8) + block(2, "maker") + block(3, "1.0") + graph +
                                                      block(8, number(2, 17)) + function);
  const OnnxModelSummary s = summarize_onnx(path);
  EXPECT_EQ(s.graph_name, "main");
  EXPECT_EQ(s.producer, "maker 1.0");
  EXPECT_EQ(s.opsets.at(""), 17);
  EXPECT_EQ(s.node_count, 6);
  EXPECT_EQ(s.initializer_count, 1);
  EXPECT_EQ(s.initializer_elements, 12);
  EXPECT_FALSE(s.all_supported());
  ASSERT_EQ(s.ops.size(), 4u);
  EXPECT_EQ(s.ops[0].op, "Relu");
  EXPECT_EQ(s.ops[0].count, 3);
  for (const OnnxOpUse& use : s.ops) {
    EXPECT_EQ(use.supported, use.op != "Warp") << use.op;
    EXPECT_EQ(use.is_function, use.op == "Twice") << use.op;
  }
}

}  // namespace
}  // namespace ingot
