#include <gtest/gtest.h>

#include "device/cpu/routines/routine_testing.h"
#include "device/reference/evaluate.h"
#include "ingot/error.h"
#include "ir/op_info.h"

namespace ingot::cpu::testing {
namespace {

Tensor indices(const Shape& shape, std::vector<int64_t> values) { return Tensor::of(shape, values); }
Tensor small_indices(const Shape& shape, const std::vector<int32_t>& values) {
  return Tensor::of(shape, values);
}

TEST(IndexingRoutinesTest, GatherRowsElementsAndBlocks) {
  for (DType dtype : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    expect_like_reference(GatherAttrs{.axis = 0},
                          {random(dtype, {9, 40}), indices({2, 3}, {0, -1, 8, -9, 4, 4})});
    expect_like_reference(GatherAttrs{.axis = -1},
                          {random(dtype, {3, 2, 5}), small_indices({4}, {0, -1, 3, 3})});
  }
  expect_like_reference(GatherAttrs{.axis = 1},
                        {random(DType::f32, {3, 4, 5, 6}), indices({2, 2}, {0, 3, -2, 1})});
  expect_like_reference(GatherAttrs{.axis = 1}, {random(DType::f32, {3, 4, 5}), indices({}, {2})});
  expect_like_reference(GatherAttrs{.axis = 0}, {random(DType::f32, {4}), indices({}, {-1})});
  expect_like_reference(GatherAttrs{.axis = 1}, {random(DType::f32, {3, 4, 5}), indices({0}, {})});
}

TEST(IndexingRoutinesTest, GatherElements) {
  expect_like_reference(GatherElementsAttrs{.axis = 1},
                        {random(DType::f32, {3, 4}), indices({2, 3}, {0, -1, 2, 1, 1, 3})});
  expect_like_reference(GatherElementsAttrs{.axis = 0},
                        {random(DType::i16, {3, 4, 2}), small_indices({2, 1, 2}, {0, -1, 2, 1})});
}

TEST(IndexingRoutinesTest, GatherNdWithAndWithoutBatches) {
  const Tensor x = random(DType::f32, {2, 3, 4, 5});
  expect_like_reference(GatherNdAttrs{}, {x, indices({3, 2}, {0, 1, -1, 2, 1, 0})});
  expect_like_reference(GatherNdAttrs{.batch_axes = 1}, {x, indices({2, 2, 2}, {0, 1, -1, 2, 1, 0, 2, 3})});
  expect_like_reference(GatherNdAttrs{.batch_axes = 1}, {x, indices({2, 1}, {2, 0})});
  expect_like_reference(GatherNdAttrs{}, {random(DType::u8, {3, 2}), indices({2}, {1, -1})});
}

TEST(IndexingRoutinesTest, ScatterElementsWithEveryReduction) {
  const Tensor at = indices({2, 3}, {0, -1, 0, 1, 1, 1});
  for (DType dtype : {DType::f32, DType::i8, DType::u16})
    for (Reduction r : {Reduction::none, Reduction::add, Reduction::mul, Reduction::min, Reduction::max})
      expect_like_reference(ScatterElementsAttrs{.axis = 1, .reduction = r},
                            {random(dtype, {3, 4}), at, random(dtype, {2, 3}, 2)}, {.tolerance = 1e-6});
  expect_like_reference(ScatterElementsAttrs{.axis = 0},
                        {random(DType::f16, {3, 4}), at, random(DType::f16, {2, 3}, 2)});
}

TEST(IndexingRoutinesTest, ScatterNdWithEveryReduction) {
  const Tensor at = indices({4, 1}, {0, -1, 0, 2});
  for (Reduction r : {Reduction::none, Reduction::add, Reduction::mul, Reduction::min, Reduction::max})
    expect_like_reference(ScatterNdAttrs{.reduction = r},
                          {random(DType::f32, {4, 3, 2}), at, random(DType::f32, {4, 3, 2}, 2)},
                          {.tolerance = 1e-6});
  expect_like_reference(ScatterNdAttrs{}, {random(DType::boolean, {4, 3}), indices({2, 2}, {0, 1, 3, -1}),
                                           random(DType::boolean, {2}, 2)});
}

TEST(IndexingRoutinesTest, ScatterInPlaceStartsFromWhatIsThere) {
  const Tensor x = random(DType::f32, {4, 3}), updates = random(DType::f32, {1, 3}, 2),
               at = indices({1, 1}, {2});
  const Node node{Op::ScatterNd, {}, ScatterNdAttrs{}, {}, std::vector<Type>(1), ""};
  const std::vector<Datum> operands = {x, at, updates};
  Placed place(x, Layout::dense), index(at, Layout::dense), from(updates, Layout::dense);
  ThreadPool pool(1);
  std::vector<View> in = {place.view(), index.view(), from.view()}, out = {place.view()};
  find_routine(Op::ScatterNd)->run({node, in, out, pool});
  expect_close(place.content(), reference::evaluate_node(node, operands).at(0).tensor(), 0);
}

TEST(IndexingRoutinesTest, AnIndexOutsideIsRefused) {
  const Tensor x = random(DType::f32, {3, 4});
  auto refuses = [&](Attrs attrs, std::vector<Datum> operands, const Shape& result) {
    const Node node{attrs.op(), {}, attrs, {}, std::vector<Type>(1), ""};
    const std::vector<Datum> expected = {Tensor::allocate(DType::f32, result)};
    EXPECT_THROW(expect_results(node, operands, expected, Layout::dense, Layout::dense, 2), Error)
        << to_string(attrs.op());
  };
  refuses(GatherAttrs{}, {x, indices({1}, {3})}, {1, 4});
  refuses(GatherElementsAttrs{}, {x, indices({1, 1}, {-4})}, {1, 1});
  refuses(GatherNdAttrs{}, {x, indices({1, 2}, {0, 4})}, {1});
  refuses(ScatterNdAttrs{}, {x, indices({1, 2}, {3, 0}), random(DType::f32, {1})}, {3, 4});
  refuses(ScatterElementsAttrs{}, {x, indices({1, 1}, {3}), random(DType::f32, {1, 1})}, {3, 4});
  refuses(ScatterNdAttrs{}, {x, indices({1, 2}, {0, 0}), random(DType::f32, {2})}, {3, 4});
}

}  // namespace
}  // namespace ingot::cpu::testing
