#pragma once

#include "device/cpu/group_exprs.h"
#include "device/cpu/plan_builder.h"
#include "device/cpu/quantised.h"
#include "device/cpu/tile_step.h"

namespace ingot::cpu {

// What one axis of the output is in the walk of a tile problem.
struct Walk {
  enum class Kind : uint8_t { none, outer, row, column };
  Kind kind = Kind::none;
  size_t index = 0;   // which outer or row dimension
  int64_t start = 0;  // rows: position i is element start + i * step of the axis
  int64_t step = 1;
};

// The part that all tile groups share: epilogue, accesses, packing. The caller fills types, choice, problem
// and walks.
class TileLowering {
 public:
  TileLowering(PlanBuilder& builder, const Group& group);

  GroupExprs& exprs() { return exprs_; }
  TileWork& work() { return work_; }
  std::vector<Walk>& walks() { return walks_; }  // by axis of the output
  void split_columns(int64_t per_group) { group_columns_ = per_group; }

  int32_t add_place(const Place& place);  // a slot
  int32_t accumulator();                  // its expression
  // b, packed for work().types and choice; `pieces`: byte offsets in `from` of one problem each.
  TilePlace packed_b(const Place& from, PackSource source, const std::vector<int64_t>& pieces);
  Place as_f32(const Place& place);
  // Bytes as work().types, which it sets, multiply them: as they are, or signed ones as unsigned, 128 higher.
  Place as_bytes(const Place& place);
  // The zero point of `a` after that.
  int64_t zero_of(const Quantised& a) const;

  // What sums of integers stand for: (acc - zero * sums of b[c]) * scale[c] + bias[c]. `zero`: zero_of a;
  // `source`: b as it is packed.
  int32_t dequantised(const QuantisedContraction& quantised, int64_t zero, const Place& b,
                      const PackSource& source, const Tensor* bias);
  // Sums of b over taps and depth, i32 by column; u8 counts from 128.
  Place column_sums(const Place& b, const PackSource& source);
  // Sums of products less the zero point of a; exact, as the reference's are.
  int32_t without_zero(int32_t sum, int64_t zero, const Place& b, const PackSource& source);
  // The sum and, where the anchor has it, its operand `bias`: a vector along the columns.
  int32_t biased_accumulator(size_t bias);
  // A vector along the columns, as a load of the epilogue.
  int32_t load_columns(Place vector);

  // `anchor_expr`: the value of the anchor; `order`: how the output should lie.
  void finish(int32_t anchor_expr, const std::vector<int>& order);
  // The same in parts, where several problems make one output: place_output() once, add_steps() of each of
  // them on what it gave, end_output() once.
  Place place_output(const std::vector<int>& order);
  void add_steps(int32_t anchor_expr, const std::vector<int>& order, const Place& out);
  void end_output(const Place& out);

 private:
  TileAccess access(const Place& place, const Shape& shape);
  bool fits(const Place& place, const Shape& shape) const;
  static kernel::Access kernel_access(const TileAccess& access, DType dtype);
  void add_access(const Place& place, const Shape& shape);
  static std::vector<int> order_for(const GroupLoad& load, const std::vector<int>& order);

  PlanBuilder& builder_;
  const Group& group_;
  GroupExprs exprs_;
  Shape domain_;
  TileWork work_;
  std::vector<Walk> walks_;
  int64_t group_columns_ = 0;
};

bool is_tile_conv_transpose(const Graph& graph, const Node& node);
bool reads_indices(const Graph& graph, const Node& max_pool);  // its second output

void lower_matmul(PlanBuilder& builder, const Group& group);
void lower_conv(PlanBuilder& builder, const Group& group);
void lower_conv_transpose(PlanBuilder& builder, const Group& group);
void lower_pool(PlanBuilder& builder, const Group& group);

}  // namespace ingot::cpu
