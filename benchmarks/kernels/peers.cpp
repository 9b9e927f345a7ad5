#include <cblas.h>
#include <omp.h>

#include <dnnl.hpp>
#include <unordered_map>

#include "layer.h"

namespace ingot::benchmark {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc any(const memory::dims& dims) { return {dims, memory::data_type::f32, Tag::any}; }

class OneDnn final : public Work {
 public:
  OneDnn(const Layer& layer, const Data& data, int threads) : layer_(layer), threads_(threads) {
    omp_set_num_threads(threads);
    layer.is_matrix ? make_matrix(data) : make_convolution(data);
  }

  void run() override {
    omp_set_num_threads(threads_);
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

  std::vector<float> output() override {
    const int64_t columns = layer_.columns * layer_.groups;
    std::vector<float> values(static_cast<size_t>(layer_.rows() * columns));
    const memory::desc plain =
        layer_.is_matrix
            ? memory::desc({layer_.rows(), columns}, memory::data_type::f32, Tag::ab)
            : memory::desc({1, columns, layer_.out_h(), layer_.out_w()}, memory::data_type::f32, Tag::nhwc);
    memory result(plain, engine_, values.data());
    copy(arguments_.at(DNNL_ARG_DST), result);
    return values;
  }

 private:
  void copy(memory from, memory to) {
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
  }

  memory placed(const memory::desc& wanted, const memory::desc& plain, const float* values) {
    memory given(plain, engine_, const_cast<float*>(values));
    memory made(wanted, engine_);
    copy(given, made);
    return made;
  }

  void make_matrix(const Data& data) {
    const memory::desc a({layer_.rows(), layer_.channels}, memory::data_type::f32, Tag::ab);
    const memory::desc out({layer_.rows(), layer_.columns}, memory::data_type::f32, Tag::ab);
    const memory::desc b({layer_.channels, layer_.columns}, memory::data_type::f32, Tag::ab);
    const dnnl::matmul::primitive_desc made({a, any({layer_.channels, layer_.columns}), out}, engine_);
    primitive_ = dnnl::matmul(made);
    arguments_ = {{DNNL_ARG_SRC, placed(made.src_desc(), a, data.a.data())},
                  {DNNL_ARG_WEIGHTS, placed(made.weights_desc(), b, data.weights.data())},
                  {DNNL_ARG_DST, memory(made.dst_desc(), engine_)}};
  }

  void make_convolution(const Data& data) {
    const int64_t k = layer_.kernel, g = layer_.groups;
    const memory::dims a{1, layer_.channels * g, layer_.h, layer_.w};
    const memory::dims b = g == 1 ? memory::dims{layer_.columns, layer_.channels, k, k}
                                  : memory::dims{g, layer_.columns, layer_.channels, k, k};
    const memory::dims out{1, layer_.columns * g, layer_.out_h(), layer_.out_w()};
    const memory::dims strides{layer_.stride, layer_.stride}, pads{layer_.pad, layer_.pad};
    const dnnl::convolution_forward::primitive_desc made(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(a), any(b), any(out),
         strides, pads, pads},
        engine_);
    primitive_ = dnnl::convolution_forward(made);
    arguments_ = {
        {DNNL_ARG_SRC, placed(made.src_desc(), {a, memory::data_type::f32, Tag::nhwc}, data.a.data())},
        {DNNL_ARG_WEIGHTS,
         placed(made.weights_desc(), {b, memory::data_type::f32, g == 1 ? Tag::oihw : Tag::goihw},
                data.weights.data())},
        {DNNL_ARG_DST, memory(made.dst_desc(), engine_)}};
  }

  Layer layer_;
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
};

class OpenBlas final : public Work {
 public:
  OpenBlas(const Layer& layer, const Data& data, int threads)
      : layer_(layer), data_(data), threads_(threads) {
    out_.resize(static_cast<size_t>(layer.rows() * layer.columns));
  }

  void run() override {
    openblas_set_num_threads(threads_);
    const auto m = static_cast<int>(layer_.rows()), n = static_cast<int>(layer_.columns),
               k = static_cast<int>(layer_.channels);
    if (m == 1)
      cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, data_.weights.data(), n, data_.a.data(), 1, 0,
                  out_.data(), 1);
    else
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, data_.a.data(), k,
                  data_.weights.data(), n, 0, out_.data(), n);
  }
  std::vector<float> output() override { return out_; }

 private:
  Layer layer_;
  const Data& data_;
  int threads_;
  std::vector<float> out_;
};

}  // namespace

std::unique_ptr<Work> onednn(const Layer& layer, const Data& data, int threads) {
  return std::make_unique<OneDnn>(layer, data, threads);
}

std::unique_ptr<Work> openblas(const Layer& layer, const Data& data, int threads) {
  if (!layer.is_matrix) return nullptr;
  return std::make_unique<OpenBlas>(layer, data, threads);
}

}  // namespace ingot::benchmark
