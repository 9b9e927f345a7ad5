#include "device/cpu/host_node.h"

#include "device/cpu/routine.h"
#include "device/reference/kernel.h"

namespace ingot::cpu {
namespace {

bool fits_view(DType dtype, size_t rank) {
  return bit_width(dtype) >= 8 && rank <= static_cast<size_t>(kMaxRank);
}

bool fits_views(std::span<const Datum> operands) {
  return std::ranges::all_of(operands, [](const Datum& d) {
    return d.is_none() || (d.is_tensor() && fits_view(d.tensor().dtype(), d.tensor().shape().size()));
  });
}

std::optional<std::vector<View>> result_views(std::span<const Type> types) {
  std::vector<View> views;
  for (const Type& type : types) {
    if (!type.is_tensor() || !type.is_ranked() || !fits_view(type.dtype, type.dims->size()))
      return std::nullopt;
    View view = {.dtype = type.dtype, .rank = static_cast<int>(type.dims->size())};
    for (size_t i = 0; i < type.dims->size(); ++i)
      view.sizes[i] = (*type.dims)[i].is_constant() ? (*type.dims)[i].constant() : -1;
    views.push_back(view);
  }
  return views;
}

bool is_known(const View& view) {
  return std::all_of(view.sizes.begin(), view.sizes.begin() + view.rank, [](int64_t n) { return n >= 0; });
}

// Memory for what the views describe.
std::vector<Datum> allocate(std::span<View> views) {
  std::vector<Datum> results;
  for (View& view : views) {
    Tensor tensor = Tensor::allocate(view.dtype, Shape(view.sizes.begin(), view.sizes.begin() + view.rank));
    view = dense_view(view.dtype, tensor.shape(), tensor.mutable_bytes().data());
    results.emplace_back(std::move(tensor));
  }
  return results;
}

}  // namespace

std::optional<std::vector<Datum>> run_routine(const Node& node, std::span<const Datum> operands,
                                              ThreadPool& pool, Arena& scratch) {
  const Routine* routine = find_routine(node.op);
  if (!routine || !fits_views(operands)) return std::nullopt;
  std::optional<std::vector<View>> out = result_views(reference::result_types(node, operands));
  if (!out) return std::nullopt;
  std::vector<View> in;
  for (const Datum& d : operands) in.push_back(d.is_none() ? kAbsent : view_of(d.tensor()));
  RoutineCall call{node, in, *out, pool};
  if (!routine->supports(call)) return std::nullopt;
  const bool known = std::ranges::all_of(*out, is_known);
  if (!known && !routine->measure) return std::nullopt;
  if (routine->scratch_bytes) call.scratch = scratch.reserve(routine->scratch_bytes(call));
  if (!known) routine->measure(call);
  std::vector<Datum> results = allocate(*out);
  routine->run(call);
  return results;
}

}  // namespace ingot::cpu
