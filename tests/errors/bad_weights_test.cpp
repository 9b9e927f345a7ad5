// Weights that do not fit an engine, or come before or after their time.
#include "bad_case.h"
#include "ingot/error.h"
#include "ingot/runtime.h"
#include "support/onnx_model.h"
#include "support/quiet_logger.h"
#include "support/thrown_by.h"
#include "tensor_io/npy.h"

namespace ingot {
namespace {

// y = relu(x * kernel + bias) with 16 * 32 and 32 weights.
std::string dense_model(const std::string& op = "Relu") {
  using namespace onnx_model;
  auto numbers = [](size_t count) {
    const std::vector<float> values(count, 0.5f);
    return std::string(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
  };
  return model(node("MatMul", {"x", "kernel"}, {"p"}) + node("Add", {"p", "bias"}, {"s"}) +
               node(op, {"s"}, {"y"}) + initializer(tensor("kernel", f32, {16, 32}, raw(numbers(512)))) +
               initializer(tensor("bias", f32, {32}, raw(numbers(32)))) + input("x", f32, {"2", "16"}) +
               output("y", f32, {"2", "32"}));
}

class BadWeights : public BadCase {
 protected:
  std::string compiled(const std::vector<std::string>& options) const {
    const std::string path = folder_.file("dense.ingot");
    std::vector<std::string> words = {INGOT_PROGRAM, "compile", folder_.write("dense.onnx", dense_model()),
                                      "-q",          "-o",      path};
    words.insert(words.end(), options.begin(), options.end());
    const ProgramResult r = run_program(words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return path;
  }
  std::string npy(const Tensor& tensor) const {
    const std::string path = folder_.file("weight.npy");
    write_npy(tensor, path);
    return path;
  }
  void expect_refused(const std::string& engine, const std::vector<std::string>& options,
                      const std::vector<std::string>& parts) const {
    std::vector<std::string> words = {"refit", engine, "-o", folder_.file("out.ingot")};
    words.insert(words.end(), options.begin(), options.end());
    expect_failure(words, parts);
  }
};

TEST_F(BadWeights, WrongShape) {
  const std::string file = npy(Tensor::allocate(DType::f32, {31}));
  expect_refused(compiled({"--refit"}), {"--set", "bias=" + file},
                 {"dense.ingot'", "f32[31] instead of f32[32]"});
}

TEST_F(BadWeights, WrongType) {
  const std::string file = npy(Tensor::allocate(DType::f64, {32}));
  expect_refused(compiled({"--refit"}), {"--set", "bias=" + file},
                 {"dense.ingot'", "f64[32] instead of f32[32]"});
}

TEST_F(BadWeights, WrongCountOfBytes) {
  const std::string file = folder_.write("weight.raw", std::string(100, 'x'));
  expect_refused(compiled({"--refit"}), {"--set", "bias=" + file}, {"weight.raw'", "128", "100"});
}

TEST_F(BadWeights, UnknownNamesAreListed) {
  const std::string file = npy(Tensor::allocate(DType::f32, {32}));
  expect_refused(compiled({"--refit"}), {"--set", "first=" + file, "--set", "second=" + file},
                 {"2 that the engine does not have: 'first', 'second'"});
}

TEST_F(BadWeights, WeightThatWasNotNamedAtTheBuild) {
  const std::string file = npy(Tensor::allocate(DType::f32, {32}));
  expect_refused(compiled({"--refit-weight", "kernel"}), {"--set", "bias=" + file},
                 {"1 that the engine does not have: 'bias'"});
}

TEST_F(BadWeights, EngineWithoutAMode) {
  const std::string file = npy(Tensor::allocate(DType::f32, {32}));
  expect_refused(compiled({}), {"--set", "bias=" + file},
                 {"dense.ingot'", "without a refit mode", "--refit"});
}

TEST_F(BadWeights, MissingOnesAreListed) {
  const std::string file = npy(Tensor::allocate(DType::f32, {32}));
  expect_refused(compiled({"--strip-weights", "--refit"}), {"--set", "bias=" + file},
                 {"1 missing: 'kernel'"});
}

TEST_F(BadWeights, ModelOfAnotherStructure) {
  const std::string other = folder_.write("other.onnx", dense_model("Sigmoid"));
  expect_refused(compiled({"--refit"}), {"--from", other}, {"dense.ingot'", "another structure"});
}

TEST_F(BadWeights, FileOfGarbage) {
  const std::string garbage = folder_.write("garbage", std::string(3000, '\x5a'));
  expect_refused(compiled({"--refit"}), {"--from", garbage}, {"garbage'"});
}

TEST_F(BadWeights, NameThatIsNoneAtTheBuild) {
  expect_failure({"compile", folder_.write("dense.onnx", dense_model()), "-q", "-o", folder_.file("a.ingot"),
                  "--refit-weight", "nothing"},
                 {"'nothing'"});
}

// What only an application can do wrong.
class BadDeferredWeights : public BadWeights {
 protected:
  void SetUp() override {
    bytes_ = read_file(compiled({}));
    engine_ = Runtime(quiet_logger()).open(folder_.file("dense.ingot"), {.defer_weights = true});
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }
  // The engine has no weights, and takes them.
  void expect_usable() const {
    const auto context = engine_->create_context();
    const Tensor x = Tensor::allocate(DType::f32, {2, 16});
    EXPECT_EQ(thrown_by([&] { context->run({{"x", x}}); }).code(), ErrorCode::invalid_argument);
    engine_->load_weights();
    EXPECT_EQ(context->run({{"x", x}}).at("y").tensor().data<float>()[0], 0.5f);  // relu(0 + bias)
  }

  std::string bytes_;
  std::shared_ptr<const Engine> engine_;
};

TEST_F(BadDeferredWeights, RunBeforeThemNamesThem) {
  const auto context = engine_->create_context();
  const Error e = thrown_by([&] { context->run({{"x", Tensor::allocate(DType::f32, {2, 16})}}); });
  EXPECT_EQ(e.parts().name, folder_.file("dense.ingot"));
  EXPECT_EQ(e.parts().observed, "1 that are deferred: 'kernel'");
  EXPECT_NE(e.parts().remedy, "");
  expect_usable();
}

TEST_F(BadDeferredWeights, BlobOfGarbage) {
  const std::vector<std::byte> garbage(5000, std::byte{0x5a});
  const Error e = thrown_by([&] { engine_->load_weights(garbage, nullptr); });
  EXPECT_EQ(e.code(), ErrorCode::incompatible);
  EXPECT_NE(e.parts().remedy, "");
  expect_usable();
}

TEST_F(BadDeferredWeights, BlobWithOneBitChanged) {
  std::string changed = bytes_;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  const Error e = thrown_by([&] { engine_->load_weights(std::as_bytes(std::span(changed)), nullptr); });
  EXPECT_EQ(e.code(), ErrorCode::corrupt);
  expect_usable();
}

TEST_F(BadDeferredWeights, ReaderThatEndsEarly) {
  struct Short : EngineReader {
    explicit Short(std::span<const std::byte> all) : bytes(all) {}
    uint64_t size() override { return bytes.size(); }
    size_t read(uint64_t offset, std::span<std::byte> into) override {
      const size_t count = std::min(into.size(), bytes.size() - 1 - std::min(offset, bytes.size() - 1));
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(offset), count, into.begin());
      return count;
    }
    std::span<const std::byte> bytes;
  } reader(bytes());
  const Error e = thrown_by([&] { engine_->load_weights(reader); });
  EXPECT_EQ(e.code(), ErrorCode::device);
  EXPECT_EQ(e.parts().name, folder_.file("dense.ingot"));
  EXPECT_NE(e.parts().remedy, "");
  expect_usable();
}

TEST_F(BadDeferredWeights, ReaderThatThrows) {
  struct Broken : EngineReader {
    uint64_t size() override { return 100000; }
    size_t read(uint64_t, std::span<std::byte>) override { throw std::runtime_error("the line is down"); }
  } reader;
  const Error e = thrown_by([&] { engine_->load_weights(reader); });
  EXPECT_EQ(e.code(), ErrorCode::device);
  EXPECT_EQ(e.parts().observed, "the line is down");
  expect_usable();
}

}  // namespace
}  // namespace ingot
