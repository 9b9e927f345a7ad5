#include <gtest/gtest.h>

#include <cmath>

#include "support/test_data.h"
#include "tests/e2e/model_run.h"

// Streaming models over real recordings, with the answers of their authors.
namespace ingot {
namespace {

// 512 new samples a step, behind the last 64 of the step before.
class SileroStream {
 public:
  explicit SileroStream(const std::shared_ptr<const Engine>& engine)
      : engine_(engine), context_(engine->create_context()) {}

  float step(std::span<const float> window) {
    std::copy(window_.end() - 64, window_.end(), window_.begin());
    std::copy(window.begin(), window.end(), window_.begin() + 64);
    std::map<std::string, Datum> inputs = {{"input", Tensor::of<float>({1, 576}, window_)},
                                           {"state", state_}};
    for (const PortInfo& port : engine_->inputs())
      if (port.name == "sr") inputs["sr"] = Tensor::of<int64_t>({}, {16000});
    auto outputs = context_->run(inputs);
    state_ = outputs.at("stateN").tensor();
    return outputs.at("output").tensor().data<float>()[0];
  }

 private:
  std::shared_ptr<const Engine> engine_;
  std::unique_ptr<Context> context_;
  std::vector<float> window_ = std::vector<float>(576, 0.0f);
  Tensor state_ = Tensor::allocate(DType::f32, {2, 1, 128});
};

class SileroTest : public OnDevice {};
INGOT_ON_EVERY_DEVICE(SileroTest);

TEST_P(SileroTest, FindsTheSpeechWindowsOfTheRecording) {
  INGOT_SHARED_MODEL_OR_SKIP(model, "silero_vad/silero_vad_op18_ifless.onnx");
  INGOT_SHARED_MODEL_OR_SKIP(recording, "silero_vad/test.wav");
  SileroStream stream(build_and_open(model, GetParam()));
  std::vector<float> samples = read_wav(recording);
  int windows = 0, speech = 0;
  for (size_t i = 0; i + 512 <= samples.size(); i += 512, ++windows)
    speech += stream.step(std::span(samples).subspan(i, 512)) > 0.5f;
  EXPECT_EQ(windows, 1875);
  EXPECT_EQ(speech, 1452);
}

// All but the half-precision one: ONNX Runtime too gives 1457 windows of speech for it, 1452 for each of the
// others.
TEST_P(SileroTest, TheFilesOfThePackageAgree) {
  INGOT_SHARED_MODEL_OR_SKIP(recording, "silero_vad/test.wav");
  std::vector<std::unique_ptr<SileroStream>> streams;
  for (const char* name :
       {"silero_vad", "silero_vad_16k_op15", "silero_vad_op18_ifless", "silero_vad_openvino_16k"}) {
    INGOT_MODEL_OR_SKIP(model, std::string("silero-vad-6.2.3/") + name + ".onnx");
    streams.push_back(std::make_unique<SileroStream>(build_and_open(model, GetParam())));
  }
  INGOT_MODEL_OR_SKIP(sequence, "silero-vad-6.2.3/silero_vad_16k_sequence.onnx");
  constexpr size_t kWindows = 40;
  std::vector<float> samples = read_wav(recording);

  // The sequence model takes all windows at once, each with its 64 samples of context.
  std::vector<float> all;
  for (size_t w = 0; w < kWindows; ++w)
    for (size_t i = 0; i < 576; ++i) all.push_back(w * 512 + i < 64 ? 0.0f : samples[w * 512 + i - 64]);
  Tensor zero = Tensor::allocate(DType::f32, {1, 1, 128});
  auto at_once = build_and_open(sequence, GetParam())
                     ->create_context()
                     ->run({{"input", Tensor::of<float>({kWindows, 576}, all)}, {"h", zero}, {"c", zero}});
  auto expected = at_once.at("speech_probs").tensor().data<float>();

  for (size_t w = 0; w < kWindows; ++w)
    for (size_t s = 0; s < streams.size(); ++s)
      EXPECT_NEAR(streams[s]->step(std::span(samples).subspan(w * 512, 512)), expected[w], 1e-4)
          << "file " << s << ", window " << w;
}

// Short-time Fourier transform of one frame and back: 512 points, hop 256, square root of a Hann window.
class Frames {
 public:
  Frames() {
    for (size_t n = 0; n < kSize; ++n)
      window_[n] = std::sqrt(0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(n) / kSize));
  }

  static constexpr size_t kSize = 512, kHop = 256, kBins = kSize / 2 + 1;

  std::vector<float> transform(std::span<const float> frame) const {
    std::vector<float> out(2 * kBins);
    for (size_t k = 0; k < kBins; ++k) {
      double re = 0, im = 0;
      for (size_t n = 0; n < kSize; ++n) {
        double x = frame[n] * window_[n], a = 2 * M_PI * static_cast<double>(k * n % kSize) / kSize;
        re += x * std::cos(a);
        im -= x * std::sin(a);
      }
      out[2 * k] = static_cast<float>(re);
      out[2 * k + 1] = static_cast<float>(im);
    }
    return out;
  }

  // Adds the windowed inverse transform to `out`.
  void add_inverse(std::span<const float> bins, std::span<double> out) const {
    for (size_t n = 0; n < kSize; ++n) {
      double x = 0;
      for (size_t k = 0; k < kBins; ++k) {
        double a = 2 * M_PI * static_cast<double>(k * n % kSize) / kSize;
        double part = bins[2 * k] * std::cos(a) - bins[2 * k + 1] * std::sin(a);
        x += (k == 0 || k == kBins - 1 ? 1 : 2) * part;
      }
      out[n] += x / kSize * window_[n];
    }
  }

 private:
  std::array<double, kSize> window_{};
};

void enhance(const Engine& engine, const std::vector<float>& samples, std::vector<double>& out,
             size_t frames) {
  auto context = engine.create_context();
  std::map<std::string, Datum> inputs;
  for (const PortInfo& port : engine.inputs()) {
    Shape shape;
    for (const Dim& d : *port.type.dims) shape.push_back(d.constant());
    inputs[port.name] = Tensor::allocate(DType::f32, shape);
  }
  Frames transform;
  for (size_t f = 0; f < frames; ++f) {
    auto bins = transform.transform(std::span(samples).subspan(f * Frames::kHop, Frames::kSize));
    inputs["mix"] = Tensor::of<float>({1, Frames::kBins, 1, 2}, bins);
    auto outputs = context->run(inputs);
    for (const char* cache : {"conv_cache", "tra_cache", "inter_cache"})
      inputs[cache] = outputs.at(std::string(cache) + "_out");
    transform.add_inverse(outputs.at("enh").tensor().data<float>(),
                          std::span(out).subspan(f * Frames::kHop, Frames::kSize));
  }
}

class GtcrnTest : public OnDevice {};
INGOT_ON_EVERY_DEVICE(GtcrnTest);

TEST_P(GtcrnTest, BothExportsGiveTheEnhancedRecording) {
  INGOT_SHARED_MODEL_OR_SKIP(model, "gtcrn/gtcrn.onnx");
  INGOT_SHARED_MODEL_OR_SKIP(twin, "gtcrn/gtcrn_simple.onnx");
  INGOT_SHARED_MODEL_OR_SKIP(recording, "gtcrn/mix.wav");
  INGOT_SHARED_MODEL_OR_SKIP(golden, "gtcrn/enh_stream.wav");
  // Centred frames: the recording is reflected over half a frame at its start.
  std::vector<float> samples = read_wav(recording), expected = read_wav(golden);
  std::vector<float> padded(samples.rend() - 1 - Frames::kHop, samples.rend() - 1);
  padded.insert(padded.end(), samples.begin(), samples.end());
  constexpr size_t kFrames = 60;  // about a second
  for (const std::string& path : {model, twin}) {
    std::vector<double> out(kFrames * Frames::kHop + Frames::kHop);
    enhance(*build_and_open(path, GetParam()), padded, out, kFrames);
    double squares = 0;
    // The first half frame lies before the recording, the last is not yet complete.
    constexpr size_t kCount = (kFrames - 1) * Frames::kHop;
    for (size_t i = 0; i < kCount; ++i)
      squares += std::pow(out[i + Frames::kHop] - static_cast<double>(expected[i]), 2);
    // Root mean square: the file has 16 bits, and ONNX Runtime misses single loud samples by up to 6e-4 too.
    EXPECT_LT(std::sqrt(squares / kCount), 1e-4) << path;
  }
}

}  // namespace
}  // namespace ingot
