#include <cmath>

#include "device/reference/elements.h"
#include "device/reference/fft.h"
#include "device/reference/kernel.h"
#include "device/reference/slices.h"

namespace ingot::reference {
namespace {

using Complex = std::complex<double>;

// Entry i of a strided row of real numbers (one a value) or complex ones (two).
Complex entry(const double* row, int64_t i, int64_t stride, int64_t parts) {
  const double* at = row + i * stride * parts;
  return {at[0], parts == 2 ? at[1] : 0};
}

// The spectrum of a real signal given by its first half: the rest is its mirrored conjugate.
void complete(std::vector<Complex>& spectrum, int64_t given) {
  auto n = static_cast<int64_t>(spectrum.size());
  for (int64_t k = std::max<int64_t>(given, 1); k < n; ++k)
    if (n - k < given) spectrum[static_cast<size_t>(k)] = std::conj(spectrum[static_cast<size_t>(n - k)]);
}

void dft(KernelContext& c) {
  const auto& a = c.attrs<DftAttrs>();
  const Shape &shape = c.in(0).shape(), &result = c.out(0).shape();
  int64_t axis = axis_of(c, c.has(2) ? load<int64_t>(c.in(2))[0] : a.axis, c.in(0).rank());
  int64_t size = shape[static_cast<size_t>(axis)], bins = result[static_cast<size_t>(axis)];
  int64_t parts = shape.back(), parts_out = result.back();
  bool halves_in = a.one_sided && a.inverse;
  int64_t length = c.has(1) ? load<int64_t>(c.in(1))[0] : halves_in ? 2 * (size - 1) : size;
  int64_t rows = element_count(Shape(shape.begin(), shape.begin() + axis));
  int64_t run = element_count(Shape(shape.begin() + axis + 1, shape.end() - 1));
  int64_t given = std::min(size, halves_in ? length / 2 + 1 : length);
  auto x = load<double>(c.in(0));
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for (int64_t r = 0; r < rows * run; ++r) {
    const double* from = x.data() + ((r / run) * size * run + r % run) * parts;
    double* to = out.data() + ((r / run) * bins * run + r % run) * parts_out;
    std::vector<Complex> row(static_cast<size_t>(length));
    for (int64_t i = 0; i < given; ++i) row[static_cast<size_t>(i)] = entry(from, i, run, parts);
    if (halves_in) complete(row, given);
    row = fft(std::move(row), a.inverse ? 1 : -1);
    for (int64_t k = 0; k < bins; ++k) {
      Complex y = row[static_cast<size_t>(k)] / (a.inverse ? static_cast<double>(length) : 1.0);
      to[k * run * parts_out] = y.real();
      if (parts_out == 2) to[k * run * parts_out + 1] = y.imag();
    }
  }
  store(c.out(0), out);
}

void stft(KernelContext& c) {
  const Shape &shape = c.in(0).shape(), &result = c.out(0).shape();
  int64_t step = load<int64_t>(c.in(1))[0], length = c.has(3) ? load<int64_t>(c.in(3))[0] : c.in(2).count();
  int64_t frames = result[1], bins = result[2], parts = shape[2];
  std::vector<double> window(static_cast<size_t>(length), 1);
  if (c.has(2)) {
    if (c.in(2).count() != length)
      c.fail(fmt::format("a window of {}", length), fmt::format("{}", c.in(2).count()));
    window = load<double>(c.in(2));
  }
  auto x = load<double>(c.in(0));
  std::vector<double> out(static_cast<size_t>(c.out(0).count()));
  for (int64_t f = 0; f < shape[0] * frames; ++f) {
    const double* from = x.data() + ((f / frames) * shape[1] + f % frames * step) * parts;
    std::vector<Complex> frame(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i)
      frame[static_cast<size_t>(i)] = entry(from, i, 1, parts) * window[static_cast<size_t>(i)];
    frame = fft(std::move(frame), -1);
    for (int64_t k = 0; k < bins; ++k) {
      out[static_cast<size_t>((f * bins + k) * 2)] = frame[static_cast<size_t>(k)].real();
      out[static_cast<size_t>((f * bins + k) * 2 + 1)] = frame[static_cast<size_t>(k)].imag();
    }
  }
  store(c.out(0), out);
}

// Edges of the bands in spectrum bins, equally spaced on the mel scale m = 2595 log10(1 + f / 700).
std::vector<int64_t> mel_edges(KernelContext& c, int64_t bins, int64_t length) {
  auto rate = static_cast<double>(load<int64_t>(c.in(2))[0]);
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mel(load<double>(c.in(3))[0]), high = mel(load<double>(c.in(4))[0]);
  double step = (high - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(bin >= 0 && bin <= static_cast<double>(length)))
      c.fail("frequencies between 0 and the sample rate", fmt::format("{} Hz at {} Hz", hertz, rate));
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

// One triangle per band.
void mel_weight_matrix(KernelContext& c) {
  const Shape& shape = c.out(0).shape();
  int64_t spectrum = shape[0], bins = shape[1];
  auto edges = mel_edges(c, bins, load<int64_t>(c.in(1))[0]);
  std::vector<double> out(static_cast<size_t>(spectrum * bins));
  for (int64_t i = 0; i < bins; ++i) {
    int64_t left = edges[static_cast<size_t>(i)], centre = edges[static_cast<size_t>(i + 1)],
            right = edges[static_cast<size_t>(i + 2)];
    auto at = [&](int64_t j) -> double& { return out[static_cast<size_t>(j * bins + i)]; };
    for (int64_t j = left; j <= std::min(centre, spectrum - 1); ++j)
      at(j) = left == centre ? 1 : static_cast<double>(j - left) / static_cast<double>(centre - left);
    for (int64_t j = centre; j < std::min(right, spectrum); ++j)
      at(j) = static_cast<double>(right - j) / static_cast<double>(right - centre);
  }
  store(c.out(0), out);
}

}  // namespace

void add_signal_kernels(KernelTable& t) {
  t[Op::Dft] = dft;
  t[Op::Stft] = stft;
  t[Op::MelWeightMatrix] = mel_weight_matrix;
}

}  // namespace ingot::reference
