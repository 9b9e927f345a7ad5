#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/reference/evaluate.h"
#include "ingot/graph.h"

namespace ingot::reference {

// One execution of one node: its operands, its attributes and its outputs. Output tensors are allocated,
// zeroed, with the type that the rule of the op gives for these operands; an op whose sizes depend on data
// sets its outputs itself.
class KernelContext {
 public:
  KernelContext(const Node& node, std::span<const Datum> operands, const RunBody* run_body = nullptr);

  const Node& node() const { return node_; }
  template <class A>
  const A& attrs() const {
    return node_.as<A>();
  }

  size_t operand_count() const { return operands_.size(); }
  bool has(size_t i) const { return i < operands_.size() && !operands_[i].is_none(); }
  const Datum& datum(size_t i) const;
  const Tensor& in(size_t i) const { return datum(i).tensor(); }

  // An operand of integers; empty where it is absent.
  std::vector<int64_t> ints(size_t i) const;

  size_t output_count() const { return node_.types.size(); }
  // Type of an output as the rule gives it for these operands.
  const Type& out_type(size_t i);
  // The output tensor, allocated on first use.
  Tensor& out(size_t i);
  void set(size_t i, Datum datum) { outputs_.at(i) = std::move(datum); }

  // A subgraph of the node.
  std::vector<Datum> run_body(size_t subgraph, std::span<const Datum> inputs) const;

  std::vector<Datum> take_outputs();
  [[noreturn]] void fail(std::string expected, std::string observed) const;

 private:
  const Node& node_;
  std::span<const Datum> operands_;
  const RunBody* run_body_;
  std::vector<Type> types_;
  std::vector<std::optional<Tensor>> tensors_;
  std::vector<Datum> outputs_;
};

// What the rule of the op gives for these operands: sizes that depend on data are symbols.
std::vector<Type> result_types(const Node& node, std::span<const Datum> operands);

using Kernel = void (*)(KernelContext&);
using KernelTable = std::map<Op, Kernel>;

// Null when the op has no kernel here: it is then a composite, and runs as its decomposition.
Kernel find_kernel(Op op);

// One per file of kernels.
void add_activation_kernels(KernelTable& table);
void add_box_kernels(KernelTable& table);
void add_cast_kernels(KernelTable& table);
void add_contraction_kernels(KernelTable& table);
void add_control_kernels(KernelTable& table);
void add_convolution_kernels(KernelTable& table);
void add_indexing_kernels(KernelTable& table);
void add_movement_kernels(KernelTable& table);
void add_pointwise_binary_kernels(KernelTable& table);
void add_pointwise_unary_kernels(KernelTable& table);
void add_pooling_kernels(KernelTable& table);
void add_quantization_kernels(KernelTable& table);
void add_random_kernels(KernelTable& table);
void add_reduce_kernels(KernelTable& table);
void add_resize_kernels(KernelTable& table);
void add_sampling_kernels(KernelTable& table);
void add_scan_kernels(KernelTable& table);
void add_sequence_kernels(KernelTable& table);
void add_signal_kernels(KernelTable& table);
void add_slice_kernels(KernelTable& table);
void add_sort_kernels(KernelTable& table);
void add_text_kernels(KernelTable& table);

}  // namespace ingot::reference
