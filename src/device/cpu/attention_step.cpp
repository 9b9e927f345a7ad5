#include "device/cpu/attention_step.h"

#include <algorithm>

#include "device/cpu/attention_run.h"

namespace ingot::cpu {
namespace {

constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kPackRows = 16;  // with fewer, packing values costs more than it saves

int64_t element_bytes(const Place& place) { return bit_width(place.view.dtype) / 8; }
int64_t stride_bytes(const Place& place, size_t axis) {
  return place.view.strides[axis] * element_bytes(place);
}
int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

kernel::LoopNest score_epilogue_of(const AttentionWork& work) {
  ScoreForm form{.scale = work.scale, .softcap = work.softcap};
  if (!work.mask.is_none()) {
    const auto& strides = work.mask.view.strides;
    form.mask = work.mask.view.dtype;
    form.mask_rows = strides[1] != 0 || strides[2] != 0;
    form.mask_columns = strides[3] != 0 || work.sizes.keys() == 1;  // one kernel for one key and for more
  }
  return score_epilogue(form);
}

// Rows of a block, of heads and queries this far apart.
void set_rows(TileProblem& problem, const RowBlock& rows, int64_t head_stride, int64_t query_stride) {
  problem.rows[kRowDims - 2] = plain_rows(rows.heads, head_stride);
  problem.rows[kRowDims - 1] = plain_rows(rows.queries, query_stride);
}

TileAccess row_access(int32_t slot, int64_t head_stride, int64_t query_stride, int64_t column) {
  return {.place = {.slot = slot}, .rows = {0, 0, head_stride, query_stride}, .column = column};
}

}  // namespace

AttentionStep::AttentionStep(KernelSet& kernels, AttentionWork work, AttentionPlan plan)
    : kernels_(kernels), work_(std::move(work)), plan_(std::move(plan)) {
  const AttentionSizes& s = work_.sizes;
  row_elements_ = rounded(plan_.most_keys(), 16) + 16;
  score_tiles_ = {
      {}, choose_tile(kernels_.target(), {}, plan_.most_rows(), plan_.most_keys()), score_epilogue_of(work_)};
  const TileChoice values = choose_tile(kernels_.target(), {}, plan_.most_rows(), s.value_size);
  values_in_place_ = reads_values_in_place(values);
  value_tiles_ = {value_types(), values,
                  is_whole() ? whole_value_epilogue(work_.out.view.dtype) : carried_value_epilogue()};
  for (const RowBlock& rows : plan_.rows) {
    score_tiles_.want(kernels_, tile_heights(rows.rows(), score_tiles_.choice()));
    value_tiles_.want(kernels_, tile_heights(rows.rows(), value_tiles_.choice()));
  }
  weigh_id_ = kernels_.add(weigh_nest());
  if (!is_whole()) finish_id_ = kernels_.add(finish_nest(work_.out.view.dtype));
  const double heads = static_cast<double>(s.batch * s.heads * s.group);
  cost.flops = 2 * heads * static_cast<double>(s.queries * s.keys() * (s.size + s.value_size));
  for (const Place* place : {&work_.query, &work_.out})
    cost.bytes += static_cast<double>(place->view.count() * element_bytes(*place));
  for (const std::vector<Place>* places : {&work_.keys, &work_.values})
    for (const Place& place : *places)
      cost.bytes += static_cast<double>(place.view.count() * element_bytes(place));
}

// Rows of whole panels lie as tiles read them.
bool AttentionStep::reads_values_in_place(const TileChoice& choice) const {
  if (plan_.most_chunk_rows() > kPackRows || work_.sizes.value_size % choice.columns() != 0) return false;
  const DType dtype = work_.values[0].view.dtype;
  return std::ranges::all_of(work_.values, [&](const Place& place) {
    return place.view.dtype == dtype && place.view.strides[3] == 1 && place.view.strides[2] > 0;
  });
}

TileTypes AttentionStep::value_types() const {
  if (values_in_place_) return {.b = work_.values[0].view.dtype, .packed = false};
  return {};
}

// How many keys there are decides on the width of score tiles, and whether values are carried and packed.
void AttentionStep::add_standbys() {
  const kernel::Target& target = kernels_.target();
  for (int64_t keys = target.lanes(); keys <= int64_t{6} * target.lanes(); keys += target.lanes())
    TileFamily({}, choose_tile(target, {}, kUnknownRows, keys), score_epilogue_of(work_))
        .add_standbys(kernels_);
  const DType out = work_.out.view.dtype;
  const bool whole_panels = work_.sizes.value_size % value_tiles_.choice().columns() == 0;
  for (const bool packed : {true, !whole_panels})
    for (const kernel::LoopNest& epilogue : {whole_value_epilogue(out), carried_value_epilogue()}) {
      const TileTypes types =
          packed ? TileTypes{} : TileTypes{.b = work_.values[0].view.dtype, .packed = false};
      TileFamily(types, value_tiles_.choice(), epilogue).add_standbys(kernels_);
    }
  kernels_.add(finish_nest(out));
}

void AttentionStep::link() {
  score_tiles_.link(kernels_);
  value_tiles_.link(kernels_);
  kernels_.require(weigh_id_);
  weigh_ = kernels_.nest(weigh_id_);
  if (!is_whole()) {
    kernels_.require(finish_id_);
    finish_ = kernels_.nest(finish_id_);
  }
  for (const RowBlock& rows : plan_.rows)
    for (const KeyBlock& keys : plan_.keys) add_products(rows, keys);
  lay_out_scratch();
}

void AttentionStep::add_products(const RowBlock& rows, const KeyBlock& keys) {
  if (find_products(rows, keys)) return;
  products_.push_back({rows.heads, rows.queries, keys.count, keys.segment,
                       TilePlan(score_problem(rows, keys), score_tiles_.types(), score_tiles_.choice(),
                                score_tiles_.functions()),
                       TilePlan(value_problem(rows, keys), value_tiles_.types(), value_tiles_.choice(),
                                value_tiles_.functions())});
}

const AttentionStep::Products* AttentionStep::find_products(const RowBlock& rows,
                                                            const KeyBlock& keys) const {
  const auto found = std::ranges::find_if(products_, [&](const Products& p) {
    return p.heads == rows.heads && p.queries == rows.queries && p.keys == keys.count &&
           p.segment == keys.segment;
  });
  return found == products_.end() ? nullptr : &*found;
}

// Slots: query, packed keys, scores, mask.
TileProblem AttentionStep::score_problem(const RowBlock& rows, const KeyBlock& keys) const {
  TileProblem problem;
  problem.columns = keys.count;
  problem.depth = work_.sizes.size;
  set_rows(problem, rows, stride_bytes(work_.query, 1), stride_bytes(work_.query, 2));
  problem.b.slot = 1;
  if (!work_.mask.is_none())
    problem.accesses.push_back(
        row_access(3, stride_bytes(work_.mask, 1), stride_bytes(work_.mask, 2), stride_bytes(work_.mask, 3)));
  const int64_t row = row_elements_ * kFloat;
  problem.accesses.push_back(row_access(2, rows.queries * row, row, kFloat));
  problem.sizes = {problem.row_count(), problem.columns};
  return problem;
}

// Slots: weights, values, then the whole epilogue's sums of weights and output, or the sums so far and
// their correction.
TileProblem AttentionStep::value_problem(const RowBlock& rows, const KeyBlock& keys) const {
  TileProblem problem;
  problem.columns = work_.sizes.value_size;
  problem.depth = keys.count;
  if (values_in_place_) problem.b_stride = stride_bytes(work_.values[keys.segment], 2);
  const int64_t row = row_elements_ * kFloat;
  set_rows(problem, rows, rows.queries * row, row);
  problem.b.slot = 1;
  const TileAccess per_row = row_access(3, rows.queries * kFloat, kFloat, 0);
  if (is_whole()) {
    problem.accesses = {per_row, row_access(2, stride_bytes(work_.out, 1), stride_bytes(work_.out, 2),
                                            element_bytes(work_.out))};
  } else {
    const int64_t sums = work_.sizes.value_size * kFloat;
    const TileAccess carried = row_access(2, rows.queries * sums, sums, kFloat);
    problem.accesses = {carried, per_row, carried};
  }
  problem.sizes = {problem.row_count(), problem.columns};
  return problem;
}

PackSource AttentionStep::key_source(const KeyBlock& block) const {
  const View& view = work_.keys[block.segment].view;
  PackSource source{.dtype = view.dtype, .taps = {}, .depth = {}, .columns = {block.count, view.strides[2]}};
  source.depth[1] = {work_.sizes.size, view.strides[3]};
  return source;
}

PackSource AttentionStep::value_source(const KeyBlock& block) const {
  const View& view = work_.values[block.segment].view;
  PackSource source{
      .dtype = view.dtype, .taps = {}, .depth = {}, .columns = {work_.sizes.value_size, view.strides[3]}};
  source.depth[1] = {block.count, view.strides[2]};
  return source;
}

void AttentionStep::lay_out_scratch() {
  const auto reserve = [this](int64_t bytes) {
    const int64_t at = scratch_.bytes;
    scratch_.bytes += rounded(bytes, 64);
    return at;
  };
  int64_t keys = 0, values = 0, tile = 0;
  for (const KeyBlock& block : plan_.keys) {
    keys =
        std::max(keys, pack_layout(score_tiles_.types(), score_tiles_.choice(), key_source(block)).bytes());
    values = std::max(values,
                      pack_layout(value_tiles_.types(), value_tiles_.choice(), value_source(block)).bytes());
  }
  for (const Products& p : products_)
    tile = std::max({tile, p.scores.scratch_bytes(), p.values.scratch_bytes()});
  const int64_t sizes[] = {plan_.most_rows(), plan_.most_keys(), row_elements_};
  tile = std::max(tile, kernel::scratch_bytes(std::get<kernel::LoopNest>(kernels_.source(weigh_id_)), sizes));
  const int64_t rows = plan_.most_chunk_rows();
  scratch_.keys = reserve(keys);
  scratch_.values = reserve(values);
  scratch_.scores = reserve(plan_.most_rows() * row_elements_ * kFloat);
  scratch_.correction = reserve(plan_.most_rows() * kFloat);
  scratch_.largest = reserve(rows * kFloat);
  scratch_.weights = reserve(rows * kFloat);
  scratch_.sums = reserve(is_whole() ? 0 : rows * work_.sizes.value_size * kFloat);
  scratch_.tile = reserve(tile);
}

int64_t AttentionStep::parts_bytes(const AttentionSizes& sizes, const AttentionPlan& plan) {
  if (plan.splits == 1) return 0;
  const int64_t chunks = sizes.batch * sizes.heads * static_cast<int64_t>(plan.row_chunks() * plan.splits);
  return chunks * plan.most_chunk_rows() * (sizes.value_size + 2) * kFloat;
}

void AttentionStep::run(const Frame& frame) const {
  const int64_t chunks =
      work_.sizes.batch * work_.sizes.heads * static_cast<int64_t>(plan_.row_chunks() * plan_.splits);
  frame.pool.parallel_for(chunks, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t i = begin; i < end; ++i) AttentionRun(*this, frame, thread).chunk(i);
  });
  if (plan_.splits > 1)
    for (int64_t i = 0; i < chunks; i += static_cast<int64_t>(plan_.splits))
      AttentionRun(*this, frame, 0).merge(i);
}

std::vector<int> AttentionStep::kernels() const {
  std::vector<int> all = score_tiles_.ids();
  all.insert(all.end(), value_tiles_.ids().begin(), value_tiles_.ids().end());
  all.push_back(weigh_id_);
  if (finish_id_ >= 0) all.push_back(finish_id_);
  return all;
}

std::string AttentionStep::describe() const {
  const AttentionSizes& s = work_.sizes;
  return fmt::format("attention {}x{}x{} heads, {} queries, {} keys of {}, blocks of {}x{}, {} splits",
                     s.batch, s.heads, s.group, s.queries, s.keys(), s.size, plan_.most_rows(),
                     plan_.most_keys(), plan_.splits);
}

}  // namespace ingot::cpu
