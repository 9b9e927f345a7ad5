#pragma once

#include <array>

#include "device/cpu/attention_kernels.h"
#include "device/cpu/attention_plan.h"
#include "device/cpu/kernel_set.h"
#include "device/cpu/pack.h"
#include "device/cpu/plan.h"
#include "device/cpu/tile_family.h"

namespace ingot::cpu {

// What an attention step is made of. All places have the axes [batch, heads, tokens, elements].
struct AttentionWork {
  AttentionSizes sizes;
  Place query;                // f32, elements without gaps
  std::vector<Place> keys;    // by segment
  std::vector<Place> values;  // by segment
  Place mask;                 // or none; stretched to the scores by strides of 0
  Place lengths;              // or none: [batch], i32 or i64
  Place out;                  // elements without gaps
  Place parts;                // what splits leave for the merge; none for one split
  double scale = 1;
  double softcap = 0;
  bool causal = false;
  int64_t window = -1;
  int64_t past = 0;  // keys before that of the first query
};

// Attention in one pass over the keys: for each block of queries and each block of keys scores, weights and
// weighted values, of which only sums leave the second-level cache.
class AttentionStep : public Step {
 public:
  AttentionStep(KernelSet& kernels, AttentionWork work, AttentionPlan plan);
  void add_standbys() override;
  void link() override;
  bool stands_in() const override { return score_tiles_.stands_in() || value_tiles_.stands_in(); }
  void run(const Frame& frame) const override;
  std::string describe() const override;
  int64_t scratch_bytes() const override { return scratch_.bytes; }
  std::vector<int> kernels() const override;

  // Of AttentionWork::parts, in bytes; 0 for one split.
  static int64_t parts_bytes(const AttentionSizes& sizes, const AttentionPlan& plan);

 private:
  friend class AttentionRun;

  // The two products of a row block of some form and a key block of some size.
  struct Products {
    int64_t heads, queries, keys;
    size_t segment;
    TilePlan scores, values;
  };
  struct Scratch {  // offsets
    int64_t keys = 0;
    int64_t values = 0;
    int64_t scores = 0;
    int64_t correction = 0;
    int64_t largest = 0;
    int64_t weights = 0;
    int64_t sums = 0;
    int64_t tile = 0;
    int64_t bytes = 0;
  };

  bool is_whole() const { return plan_.keys.size() == 1; }
  TileTypes value_types() const;
  bool reads_values_in_place(const TileChoice& choice) const;
  void add_products(const RowBlock& rows, const KeyBlock& keys);
  TileProblem score_problem(const RowBlock& rows, const KeyBlock& keys) const;
  TileProblem value_problem(const RowBlock& rows, const KeyBlock& keys) const;
  const Products* find_products(const RowBlock& rows, const KeyBlock& keys) const;
  PackSource key_source(const KeyBlock& block) const;
  PackSource value_source(const KeyBlock& block) const;
  void lay_out_scratch();

  KernelSet& kernels_;
  AttentionWork work_;
  AttentionPlan plan_;
  TileFamily score_tiles_;
  TileFamily value_tiles_;
  int weigh_id_ = -1;
  int finish_id_ = -1;
  kernel::KernelFunction weigh_ = nullptr;
  kernel::KernelFunction finish_ = nullptr;
  int64_t row_elements_ = 0;  // from row to row of the scores in scratch
  bool values_in_place_ = false;
  std::vector<Products> products_;
  Scratch scratch_;
};

}  // namespace ingot::cpu
