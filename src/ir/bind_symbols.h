#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ingot/graph.h"

namespace ingot {

struct SymbolSize {
  int64_t size;
  std::string input;  // the first input that had it
};
using SymbolSizes = std::map<std::string, SymbolSize, std::less<>>;

// Finds the size of every symbol from the inputs of one inference, and checks each input against its declared
// type. All calls throw Error(invalid_argument) naming the input: wrong kind, dtype, rank or size; a size
// outside the range of its symbol; two sizes for one symbol, which names both inputs.
class SymbolBinder {
 public:
  void bind(const std::string& input, const Type& type, const Datum& datum);
  void bind_shape(const std::string& input, const Dims& dims, const Shape& shape);
  // Call after all inputs: sizes declared as expressions can be checked only now.
  SymbolSizes finish();

 private:
  struct Derived {
    std::string input;
    Dim dim;
    int64_t size;
  };
  void bind_tensor(const std::string& input, const Type& type, const Datum& datum);
  void bind_size(const std::string& input, const Dim& dim, int64_t size);

  SymbolSizes sizes_;
  std::vector<Derived> derived_;
};

// Throws Error(invalid_argument) unless a graph has `given` inputs.
void require_input_count(const Graph& graph, size_t given);

// All of the above for the inputs of a graph.
SymbolSizes bind_symbols(const Graph& graph, std::span<const Datum> inputs);

// Value of an expression; empty when a symbol has no size.
std::optional<int64_t> evaluate(const Dim& dim, const SymbolSizes& sizes);

}  // namespace ingot
