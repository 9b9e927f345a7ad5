#pragma once

#include "device/cpu/attention_step.h"

namespace ingot::cpu {

// One thread's work on a chunk of an attention step: some row blocks of one head of keys, against all keys or
// the share of a split.
class AttentionRun {
 public:
  AttentionRun(const AttentionStep& step, const Frame& frame, int thread);

  void chunk(int64_t index);
  // Joins what the splits of a chunk left, in their order; `index` of the first of them.
  void merge(int64_t index);

 private:
  struct Range {
    int64_t begin, end;
  };

  void find(int64_t index);
  void start();
  void key_block(const KeyBlock& keys);
  void pack(const KeyBlock& keys);
  void row_block(const RowBlock& rows, const KeyBlock& keys, int64_t first_row);
  void hide(const RowBlock& rows, const KeyBlock& keys);
  Range visible(int64_t query) const;
  bool sees_any(const RowBlock& rows, const KeyBlock& keys) const;
  void weigh(int64_t rows, int64_t keys, int64_t first_row);
  void multiply_values(const TilePlan& product, std::byte* values, const RowBlock& rows, int64_t first_row);
  void finish(const RowBlock& rows, int64_t first_row);

  float* floats(int64_t offset) const { return reinterpret_cast<float*>(scratch_ + offset); }
  std::byte* at(const Place& place, int64_t head, int64_t token) const;
  void use_part(int64_t index);

  const AttentionStep& step_;
  const AttentionWork& work_;
  const AttentionPlan& plan_;
  const Frame& frame_;
  std::byte* scratch_;
  int64_t batch_ = 0;
  int64_t head_ = 0;
  size_t split_ = 0;
  std::span<const RowBlock> rows_;
  int64_t real_keys_ = 0;  // keys that AttentionWork::lengths leaves
  // Of the rows of the chunk.
  float* largest_ = nullptr;
  float* weights_ = nullptr;
  float* sums_ = nullptr;
};

}  // namespace ingot::cpu
