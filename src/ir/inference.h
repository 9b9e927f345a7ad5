#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "ingot/graph.h"
#include "ir/op_info.h"

namespace ingot {

// What a type-and-shape rule sees of one node. The same rules run while a graph is built, on symbolic sizes,
// and at run time, on real ones: there every size is a constant and every integer operand has known values.
class Inference {
 public:
  struct Operand {
    const Type* type = nullptr;  // null: absent
    // Values of an integer tensor of rank 0 or 1, where known. May be empty.
    std::function<std::optional<std::vector<Dim>>()> values;
  };

  Inference(const Attrs& attrs, std::span<const GraphPtr> subgraphs, std::vector<Operand> operands,
            size_t output_count, std::function<Dim(std::string_view)> fresh);

  size_t operand_count() const { return operands_.size(); }
  bool has(size_t i) const { return i < operands_.size() && operands_[i].type != nullptr; }
  const Type& type(size_t i) const;
  DType dtype(size_t i) const { return type(i).dtype; }
  bool is_ranked(size_t i) const { return type(i).is_ranked(); }
  const Dims& dims(size_t i) const;
  int64_t rank(size_t i) const { return static_cast<int64_t>(dims(i).size()); }
  std::optional<std::vector<Dim>> values(size_t i) const;
  // As above, but only if every value is a constant.
  std::optional<std::vector<int64_t>> constants(size_t i) const;
  // How many values a vector holds, where known; a scalar holds one.
  std::optional<int64_t> value_count(size_t i) const;

  Op op() const { return attrs_.op(); }
  template <class A>
  const A& attrs() const {
    return attrs_.as<A>();
  }
  std::span<const GraphPtr> subgraphs() const { return subgraphs_; }

  size_t output_count() const { return outputs_.size(); }
  void set(size_t output, Type type) { outputs_.at(output) = std::move(type); }
  void set(size_t output, DType dtype, Dims dims) { set(output, Type::tensor(dtype, std::move(dims))); }
  Dim fresh(std::string_view hint) const { return fresh_(hint); }
  // A tensor of this rank of whose sizes nothing is known.
  Type fresh_type(DType dtype, int64_t rank, std::string_view hint) const;

  // Axis in [-rank, rank) made non-negative.
  int64_t axis(int64_t axis, int64_t rank, std::string_view what = "axis") const;
  // Axes made non-negative; throws where one repeats.
  std::vector<int64_t> axes(const std::vector<int64_t>& axes, int64_t rank) const;
  void require_same_dtype(size_t a, size_t b) const;
  // `operand`: its index, or -1 for the node as a whole.
  [[noreturn]] void fail(int operand, std::string expected, std::string observed,
                         std::string remedy = {}) const;

  // Checks operands against the table, runs the rule of the op, checks that every output got a type.
  std::vector<Type> run();

 private:
  void check_operands() const;
  const OpInfo& info() const { return op_info(attrs_.op()); }

  const Attrs& attrs_;
  std::span<const GraphPtr> subgraphs_;
  std::vector<Operand> operands_;
  std::vector<std::optional<Type>> outputs_;
  std::function<Dim(std::string_view)> fresh_;
};

// NumPy broadcasting of two sizes or shapes; empty where they cannot meet.
std::optional<Dim> broadcast(const Dim& a, const Dim& b);
std::optional<Dims> broadcast(const Dims& a, const Dims& b);

}  // namespace ingot
