#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// One contraction and who can compute it.
namespace ingot::benchmark {

// A convolution over channels-last activations; a matrix product is one of 1 x 1 over 1 x rows.
struct Layer {
  std::string name;
  bool is_matrix = false;
  int64_t h = 1, w = 1, channels = 1, groups = 1, columns = 1;  // channels and columns of one group
  int64_t kernel = 1, stride = 1, pad = 0;

  int64_t out_h() const { return (h + 2 * (is_matrix ? 0 : pad) - (is_matrix ? 1 : kernel)) / stride + 1; }
  int64_t out_w() const { return (w + 2 * pad - kernel) / stride + 1; }
  int64_t rows() const { return out_h() * out_w(); }
  bool is_depthwise() const { return groups > 1 && channels == 1 && columns == 1; }
  double flops() const {
    return 2.0 * static_cast<double>(rows() * columns * groups) *
           static_cast<double>(channels * kernel * kernel);
  }
};

struct Data {
  std::vector<float> a;  // [h][w][groups * channels]
  std::vector<float>
      weights;  // [groups * columns][channels][kernel][kernel]; of a matrix [channels][columns]

  explicit Data(const Layer& layer);
};

class Work {
 public:
  virtual ~Work() = default;
  virtual void run() = 0;
  virtual std::vector<float> output() = 0;  // [rows][groups * columns]
};

std::unique_ptr<Work> ours(const Layer& layer, const Data& data, int threads);
std::unique_ptr<Work> onednn(const Layer& layer, const Data& data, int threads);
std::unique_ptr<Work> openblas(const Layer& layer, const Data& data, int threads);  // null but for matrices

}  // namespace ingot::benchmark
