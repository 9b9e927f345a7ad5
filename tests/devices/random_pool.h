#pragma once

#include <functional>
#include <map>
#include <optional>

#include "tests/devices/random_graph.h"

namespace ingot::devices {

// A random graph while it grows: the values that the next piece may read, with their content for the first
// run.
class RandomPool {
 public:
  struct Entry {
    Value value;
    bool exact;  // free of rounding on every device
    int readers = 0;
  };

  RandomPool(uint64_t seed, const RandomLimits& limits);

  GraphBuilder g;
  Random random;
  DType real;  // of this graph

  Value input(DType dtype, Dims dims, Range range);
  Dim symbol(const std::string& name);  // a size that each run chooses
  int64_t size();                       // a known size, often an odd one

  // A constant of the type, near 1 / sqrt(`terms`): a weight whose products are summed `terms` at a time.
  Value weight(const Shape& shape, int64_t terms);
  Value constant(DType dtype, const Shape& shape, Range range);
  Value ints(const std::vector<int64_t>& values);

  // Makes a value readable by later pieces, scaled back where it has grown; drops what is too large or not
  // finite.
  void offer(Value v, bool exact = false);

  using Wanted = std::function<bool(Value)>;
  // Any value that is wanted, recent ones more often.
  std::optional<Entry> pick(const Wanted& wanted);
  std::optional<Entry> pick_real(int64_t least_rank = 0);
  std::optional<Entry> pick_exact(DType dtype);

  Shape shape(Value v);                  // in the first run
  bool is_known(Value v, int64_t axis);  // the size of the axis is a constant
  int64_t any_axis(Value v);             // not for scalars
  std::optional<int64_t> known_axis(Value v);

  size_t entry_count() const { return entries_.size(); }
  TestGraph finish() &&;

 private:
  struct Input {
    DType dtype;
    Dims dims;
    Range range;
  };
  const Datum& sample(Value v);
  Datum input_content(const Input& input, const std::map<std::string, int64_t>& sizes);
  std::map<std::string, int64_t> draw_sizes();
  std::vector<Value> results();

  RandomLimits limits_;
  std::vector<Entry> entries_;
  std::vector<Input> inputs_;
  std::map<std::string, int64_t> sizes_;  // of the first run
  std::map<Value, Datum> samples_;
};

// Adds one piece; false where the pool has nothing that fits.
using Piece = bool (*)(RandomPool&);
std::vector<Piece> pointwise_pieces();
std::vector<Piece> movement_pieces();
std::vector<Piece> layer_pieces();
std::vector<Piece> image_pieces();
std::vector<Piece> exact_pieces();

}  // namespace ingot::devices
