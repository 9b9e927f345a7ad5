#pragma once

#include <map>
#include <optional>

#include "device/cpu/groups.h"
#include "device/cpu/kernel_set.h"
#include "device/cpu/packed_weights.h"
#include "device/cpu/plan.h"
#include "kernel/target.h"

namespace ingot::cpu {

// What the kernels of an engine are made with.
struct Workshop {
  kernel::Target target;
  KernelSet& kernels;
  PackedWeights& weights;
  ThreadPool& pool;
  const std::map<const std::byte*, std::string>& weight_names;  // of the constants of the engine, by address
  std::shared_ptr<MemoryAccount> memory = nullptr;              // of what plans keep; null: not counted
  std::optional<uint64_t> workspace_limit = std::nullopt;       // as in CompileOptions
  WeightStream* stream = nullptr;                               // null: weights stay in memory
};

// Builds the plan of one static graph: where each value lies and the steps that compute them.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, Workshop& workshop, Plan& plan);

  const Graph& graph() const { return graph_; }
  Workshop& workshop() { return workshop_; }
  const Node& node(int32_t n) const { return graph_.nodes()[static_cast<size_t>(n)]; }

  // Where a value that has been computed lies.
  const Place& place(Value v);
  void set_place(Value v, Place place);
  // The memory that is already decided for a value that is yet to be computed; none where it is not.
  const Place& home_of(Value v) const {
    return places_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  }

  // Memory for a value to be computed, with the axes in memory in this order, outermost first; empty: as they
  // are. May lie inside the memory of a concatenation or be an output of the graph, then `order` is not kept.
  Place allocate(Value v, const std::vector<int>& order = {});
  Place allocate_arena(DType dtype, const Shape& shape, const std::vector<int>& order = {});
  // Row-major arena memory for any type, whatever its rank.
  Place allocate_dense(const Type& type);
  int32_t add_buffer(Buffer buffer);
  // Memory for numbers known now; lives as long as the plan.
  Place constant(const Tensor& tensor);
  // Derived weights: a constant without memory, for those that pack it from content().
  Place derived(Value weights);
  // Names the content of a constant place within the engine.
  std::string weight_name(const Place& place);
  // The memory behind the buffer of a constant place, for as long as what is returned lives.
  std::shared_ptr<const std::byte> content(const Place& place) const;

  // A copy without gaps, its axes in memory in this order (empty: as they are).
  Place dense_copy(const Place& from, const std::vector<int>& order = {});

  void add_step(std::unique_ptr<Step> step, const Node& node, std::span<const Place> reads,
                std::span<const Place> writes);
  Plan& plan() { return plan_; }

 private:
  const Graph& graph_;
  Workshop& workshop_;
  Plan& plan_;
  // A concatenation whose parts are computed in place.
  struct Part {
    Value whole;
    int64_t axis = 0;
    int64_t start = 0;
  };

  void find_parts();
  bool may_be_part(Value v, const std::vector<int>& readers) const;
  Place output_place(size_t output, const Type& type);

  std::map<Value, Part> parts_;
  std::map<Value, size_t> outputs_;  // the first output that a value is
  std::vector<std::vector<Place>> places_;
  std::map<int32_t, Value> derived_;  // by buffer
};

// The order of axes in memory, outermost first, as the strides tell; axes of one element keep their place.
std::vector<int> axis_order(const View& view);
// Batch, spatial axes, channels.
std::vector<int> channels_last(int rank);

// Adds the steps of one group.
void lower_nest(PlanBuilder& builder, const Group& group);
void lower_tile(PlanBuilder& builder, const Group& group);
void lower_view(PlanBuilder& builder, const Group& group);
void lower_attention(PlanBuilder& builder, const Group& group);
void lower_routine(PlanBuilder& builder, const Group& group);
// Copies, converting the element type.
void add_copy(PlanBuilder& builder, const Node& node, const Place& from, const Place& to);
// x + shift for bytes, which wrap: between signed and unsigned ones.
void add_shifted_copy(PlanBuilder& builder, const Node& node, const Place& from, const Place& to,
                      int64_t shift);
void add_fill(PlanBuilder& builder, const Node& node, const Place& to, double value);

// How a plan gets its kernels. This alone decides between generic and specialised ones.
struct KernelPolicy {
  bool compile = true;    // those that it wants; otherwise others that are ready stand in for them
  bool standbys = false;  // also makes those that will stand in for plans of other shapes
  int threads = 0;        // to compile on; 0: as many as the pool has
  CompilePhase phase = CompilePhase::ahead;
};

// Lowers all groups, compiles the kernels and lays out the memory.
std::shared_ptr<const Plan> build_plan(const Graph& graph, Workshop& workshop,
                                       const KernelPolicy& policy = {});

}  // namespace ingot::cpu
