#pragma once

#include <string>
#include <vector>

#include "ingot/graph.h"
#include "tests/devices/random.h"

namespace ingot::devices {

// A graph with inputs for one or more runs.
struct TestGraph {
  std::shared_ptr<const Graph> graph;
  std::vector<std::vector<Datum>> runs;
};

// How an operand of the op under test comes about, so that a device meets it in every layout.
enum class Source {
  plain,         // a graph input
  constant,      // the first operand is an input, all others are constants
  symbolic,      // sizes that only a run tells
  computed,      // by a pointwise op
  transposed,    // axes in reverse order
  sliced,        // a part of something larger
  reversed,      // with negative and larger steps
  concatenated,  // of two parts
  repeated,      // along the first axis
  reshaped,      // from one axis
};
std::string_view source_name(Source source);

struct Range {
  double low = -2, high = 2;
};

// Random elements, exact in the type: integers are whole and within the range, both ends included.
Tensor random_tensor(Random& random, DType dtype, const Shape& shape, Range range = {});
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<double>& elements);

// Makes a graph around an op, with data for its inputs.
class GraphMaker {
 public:
  GraphMaker(uint64_t seed, Source source, bool magnitudes)
      : random(seed), source_(source), magnitudes_(magnitudes) {}

  GraphBuilder g;
  Random random;

  // An operand from the source of this graph, as far as its shape and type allow.
  Value tensor(DType dtype, const Shape& shape, Range range = {});
  // An input with exactly this content.
  Value input(Tensor content);
  Value input(Sequence content, const Type& type);
  Value constant(Tensor content) { return g.constant(std::move(content)); }
  Value ints(const std::vector<int64_t>& values);  // a constant list
  Value reals(const std::vector<float>& values);

  TestGraph finish(const std::vector<Value>& outputs) &&;

 private:
  Tensor content(DType dtype, const Shape& shape, Range range);
  Value declare(Datum content, Type type);
  Value from_source(DType dtype, const Shape& shape, Range range);
  Value transposed(DType dtype, const Shape& shape, Range range);
  Value sliced(DType dtype, const Shape& shape, Range range);
  Value reversed(DType dtype, const Shape& shape, Range range);
  Value concatenated(DType dtype, const Shape& shape, Range range);
  Value repeated(DType dtype, const Shape& shape, Range range);
  Value computed(DType dtype, const Shape& shape, Range range);

  Source source_;
  bool magnitudes_;  // absolute values of all real data: what the sums of a contraction are measured by
  int operands_ = 0;
  std::vector<Datum> inputs_;
};

}  // namespace ingot::devices
