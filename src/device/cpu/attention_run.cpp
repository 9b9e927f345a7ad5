#include "device/cpu/attention_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::cpu {
namespace {

int64_t length_of(const Frame& frame, const Place& lengths, int64_t batch) {
  const std::byte* data = frame.at(lengths.buffer, lengths.offset);
  const int64_t i = batch * lengths.view.strides[0];
  return lengths.view.dtype == DType::i32 ? reinterpret_cast<const int32_t*>(data)[i]
                                          : reinterpret_cast<const int64_t*>(data)[i];
}

int64_t rows_of(std::span<const RowBlock> blocks) {
  int64_t rows = 0;
  for (const RowBlock& block : blocks) rows += block.rows();
  return rows;
}

}  // namespace

AttentionRun::AttentionRun(const AttentionStep& step, const Frame& frame, int thread)
    : step_(step), work_(step.work_), plan_(step.plan_), frame_(frame), scratch_(frame.scratch_of(thread)) {}

std::byte* AttentionRun::at(const Place& place, int64_t head, int64_t token) const {
  const auto& strides = place.view.strides;
  const int64_t elements = batch_ * strides[0] + head * strides[1] + token * strides[2];
  return frame_.at(place.buffer, place.offset + elements * bit_width(place.view.dtype) / 8);
}

void AttentionRun::find(int64_t index) {
  const auto splits = static_cast<int64_t>(plan_.splits), chunks = static_cast<int64_t>(plan_.row_chunks());
  split_ = static_cast<size_t>(index % splits);
  const auto first = static_cast<size_t>(index / splits % chunks) * plan_.rows_together;
  rows_ = std::span(plan_.rows).subspan(first, std::min(plan_.rows_together, plan_.rows.size() - first));
  head_ = index / splits / chunks % work_.sizes.heads;
  batch_ = index / splits / chunks / work_.sizes.heads;
  real_keys_ = work_.sizes.keys();
  if (!work_.lengths.is_none()) real_keys_ = std::min(real_keys_, length_of(frame_, work_.lengths, batch_));
  if (plan_.splits > 1) return use_part(index);
  largest_ = floats(step_.scratch_.largest);
  weights_ = floats(step_.scratch_.weights);
  sums_ = floats(step_.scratch_.sums);
}

// The memory in which the splits of a chunk leave their sums.
void AttentionRun::use_part(int64_t index) {
  const int64_t rows = plan_.most_chunk_rows();
  largest_ = reinterpret_cast<float*>(frame_.at(work_.parts.buffer, work_.parts.offset)) +
             index * rows * (work_.sizes.value_size + 2);
  weights_ = largest_ + rows;
  sums_ = weights_ + rows;
}

void AttentionRun::start() {
  const int64_t rows = rows_of(rows_);
  std::fill_n(largest_, rows, kLowestScore);
  std::fill_n(weights_, rows, 0.F);
  if (!step_.is_whole()) std::fill_n(sums_, rows * work_.sizes.value_size, 0.F);
}

void AttentionRun::chunk(int64_t index) {
  find(index);
  start();
  const size_t count = plan_.keys.size();
  for (size_t k = count * split_ / plan_.splits; k < count * (split_ + 1) / plan_.splits; ++k)
    key_block(plan_.keys[k]);
  if (step_.is_whole() || plan_.splits > 1) return;
  int64_t first_row = 0;
  for (const RowBlock& rows : rows_) {
    finish(rows, first_row);
    first_row += rows.rows();
  }
}

void AttentionRun::key_block(const KeyBlock& keys) {
  const auto seen = [&](const RowBlock& rows) { return step_.is_whole() || sees_any(rows, keys); };
  if (std::ranges::none_of(rows_, seen)) return;
  pack(keys);
  int64_t first_row = 0;
  for (const RowBlock& rows : rows_) {
    if (seen(rows)) row_block(rows, keys, first_row);
    first_row += rows.rows();
  }
}

void AttentionRun::pack(const KeyBlock& keys) {
  PackSource source = step_.key_source(keys);
  source.data = at(work_.keys[keys.segment], head_, keys.first);
  const PackLayout key_layout = pack_layout(step_.score_tiles_.types(), step_.score_tiles_.choice(), source);
  pack_panels(source, key_layout, 0, key_layout.panels(), scratch_ + step_.scratch_.keys);
  if (step_.values_in_place_) return;
  source = step_.value_source(keys);
  source.data = at(work_.values[keys.segment], head_, keys.first);
  const PackLayout value_layout =
      pack_layout(step_.value_tiles_.types(), step_.value_tiles_.choice(), source);
  pack_panels(source, value_layout, 0, value_layout.panels(), scratch_ + step_.scratch_.values);
}

void AttentionRun::row_block(const RowBlock& rows, const KeyBlock& keys, int64_t first_row) {
  const AttentionStep::Products& products = *step_.find_products(rows, keys);
  const int64_t head = head_ * work_.sizes.group + rows.head;
  std::byte* memory[4] = {at(work_.query, head, rows.query), scratch_ + step_.scratch_.keys,
                          scratch_ + step_.scratch_.scores, nullptr};
  if (!work_.mask.is_none())
    memory[3] = at(work_.mask, head, rows.query) +
                keys.position * work_.mask.view.strides[3] * bit_width(work_.mask.view.dtype) / 8;
  products.scores.run(memory, 0, products.scores.chunks(), scratch_ + step_.scratch_.tile);
  hide(rows, keys);
  weigh(rows.rows(), keys.count, first_row);
  std::byte* values = scratch_ + step_.scratch_.values;
  if (step_.values_in_place_) values = at(work_.values[keys.segment], head_, keys.first);
  multiply_values(products.values, values, rows, first_row);
}

// Positions of the keys that a query may see.
AttentionRun::Range AttentionRun::visible(int64_t query) const {
  const int64_t own = query + work_.past;
  return {work_.window < 0 ? 0 : own - work_.window + 1,
          work_.causal ? std::min(own + 1, real_keys_) : real_keys_};
}

bool AttentionRun::sees_any(const RowBlock& rows, const KeyBlock& keys) const {
  return visible(rows.query).begin < keys.position + keys.count &&
         visible(rows.query + rows.queries - 1).end > keys.position;
}

void AttentionRun::hide(const RowBlock& rows, const KeyBlock& keys) {
  if (!work_.causal && work_.window < 0 && work_.lengths.is_none()) return;
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  float* scores = floats(step_.scratch_.scores);
  for (int64_t row = 0; row < rows.rows(); ++row, scores += step_.row_elements_) {
    const Range range = visible(rows.query + row % rows.queries);
    const int64_t begin = std::clamp<int64_t>(range.begin - keys.position, 0, keys.count);
    const int64_t end = std::clamp<int64_t>(range.end - keys.position, begin, keys.count);
    std::fill(scores, scores + begin, kHidden);
    std::fill(scores + end, scores + keys.count, kHidden);
  }
}

void AttentionRun::weigh(int64_t rows, int64_t keys, int64_t first_row) {
  std::byte* scores = scratch_ + step_.scratch_.scores;
  auto* largest = reinterpret_cast<std::byte*>(largest_ + first_row);
  auto* weights = reinterpret_cast<std::byte*>(weights_ + first_row);
  std::byte* const memory[] = {
      scores, largest, weights, scores, largest, weights, scratch_ + step_.scratch_.correction};
  const int64_t sizes[] = {rows, keys, step_.row_elements_};
  const kernel::KernelCall call{memory, sizes, 0, rows, scratch_ + step_.scratch_.tile};
  step_.weigh_(&call);
}

void AttentionRun::multiply_values(const TilePlan& product, std::byte* values, const RowBlock& rows,
                                   int64_t first_row) {
  std::byte* memory[4] = {scratch_ + step_.scratch_.scores, values,
                          reinterpret_cast<std::byte*>(sums_ + first_row * work_.sizes.value_size),
                          scratch_ + step_.scratch_.correction};
  if (step_.is_whole()) {
    memory[2] = at(work_.out, head_ * work_.sizes.group + rows.head, rows.query);
    memory[3] = reinterpret_cast<std::byte*>(weights_ + first_row);
  }
  product.run(memory, 0, product.chunks(), scratch_ + step_.scratch_.tile);
}

void AttentionRun::finish(const RowBlock& rows, int64_t first_row) {
  const int64_t size = work_.sizes.value_size;
  std::byte* const memory[] = {reinterpret_cast<std::byte*>(sums_ + first_row * size),
                               reinterpret_cast<std::byte*>(weights_ + first_row),
                               at(work_.out, head_ * work_.sizes.group + rows.head, rows.query)};
  const int64_t sizes[] = {rows.heads,
                           rows.queries,
                           size,
                           rows.queries * size,
                           size,
                           rows.queries,
                           work_.out.view.strides[1],
                           work_.out.view.strides[2]};
  const kernel::KernelCall call{memory, sizes, 0, rows.rows(), scratch_ + step_.scratch_.tile};
  step_.finish_(&call);
}

void AttentionRun::merge(int64_t index) {
  find(index);
  const int64_t rows = rows_of(rows_), size = work_.sizes.value_size;
  float *largest = largest_, *weights = weights_, *sums = sums_;
  for (size_t split = 1; split < plan_.splits; ++split) {
    use_part(index + static_cast<int64_t>(split));
    for (int64_t row = 0; row < rows; ++row) {
      const float most = std::max(largest[row], largest_[row]);
      const float before = std::exp(largest[row] - most), now = std::exp(largest_[row] - most);
      largest[row] = most;
      weights[row] = weights[row] * before + weights_[row] * now;
      for (int64_t i = row * size; i < (row + 1) * size; ++i) sums[i] = sums[i] * before + sums_[i] * now;
    }
  }
  weights_ = weights;
  sums_ = sums;
  int64_t first_row = 0;
  for (const RowBlock& block : rows_) {
    finish(block, first_row);
    first_row += block.rows();
  }
}

}  // namespace ingot::cpu
