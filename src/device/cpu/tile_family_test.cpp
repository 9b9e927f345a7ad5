// Tiles that stand in for others, on every instruction set level of this processor.
#include "device/cpu/tile_family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "device/cpu/pack.h"
#include "support/nest_builder.h"

namespace ingot::cpu {
namespace {

std::vector<kernel::Target> targets() {
  std::vector<kernel::Target> result;
  const auto most = kernel::detect_isa_level();
  for (const auto level : {kernel::IsaLevel::avx2, kernel::IsaLevel::avx512})
    if (most && level <= *most) result.push_back({level});
  return result;
}

// out += a x b: whatever is computed or stored twice shows.
struct Product {
  int64_t rows, depth, columns;
  std::vector<float> a, b, out;

  Product(int64_t m, int64_t k, int64_t n) : rows(m), depth(k), columns(n) {
    std::mt19937 random(5);
    const auto fill = [&](int64_t count) {
      std::vector<float> values(static_cast<size_t>(count) + 16);
      for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
      return values;
    };
    a = fill(m * k);
    b = fill(k * n);
    out = fill(m * n);
  }

  TileProblem problem() const {
    TileProblem p;
    p.rows[kRowDims - 1] = plain_rows(rows, depth * 4);
    p.columns = columns;
    p.depth = depth;
    p.a = {.slot = 0};
    p.b = {.slot = 1};
    TileAccess access{.place = {.slot = 2}, .column = 4};
    access.rows[kRowDims - 1] = columns * 4;
    p.accesses = {access, access};
    p.sizes = {rows, columns};
    return p;
  }

  // After the product, by `functions`; the same bytes behind the last row as before.
  std::vector<float> run(const TileChoice& choice, const TileFunctions& functions) const {
    std::vector<float> result = out;
    const TilePlan plan(problem(), {}, choice, functions);
    PackSource source{.dtype = DType::f32,
                      .data = reinterpret_cast<const std::byte*>(b.data()),
                      .taps = {},
                      .depth = {},
                      .columns = {columns, 1}};
    source.depth[1] = {depth, columns};
    const PackLayout layout = pack_layout({}, choice, source);
    std::vector<float> packed(static_cast<size_t>(layout.bytes()) / 4 + 16);
    pack_panels(source, layout, 0, layout.panels(), reinterpret_cast<std::byte*>(packed.data()));
    std::vector<std::byte> scratch(static_cast<size_t>(plan.scratch_bytes()) + 64);
    auto* aligned =
        reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    std::byte* memory[] = {reinterpret_cast<std::byte*>(const_cast<float*>(a.data())),
                           reinterpret_cast<std::byte*>(packed.data()),
                           reinterpret_cast<std::byte*>(result.data())};
    plan.run(memory, 0, plan.chunks(), aligned);
    return result;
  }
};

kernel::LoopNest add_to_output() {
  NestBuilder nest({3, 3}, {});
  const auto sum = nest.add({.kind = kernel::ExprKind::accumulator, .dtype = DType::f32, .args = {}});
  const auto before = nest.load(DType::f32, {1, 1});
  nest.store(DType::f32, {1, 1}, nest.op(Op::Add, {sum, before}));
  nest.nest.axes = {{kernel::Size::given(0), false}, {kernel::Size::given(1), false}};
  nest.nest.vector_axis = 1;
  return nest.nest;
}

void expect_close(const Product& product, const std::vector<float>& result) {
  for (int64_t r = 0; r < product.rows; ++r)
    for (int64_t c = 0; c < product.columns; ++c) {
      const auto at = static_cast<size_t>(r * product.columns + c);
      double expected = product.out[at];
      for (int64_t k = 0; k < product.depth; ++k)
        expected += static_cast<double>(product.a[static_cast<size_t>(r * product.depth + k)]) *
                    static_cast<double>(product.b[static_cast<size_t>(k * product.columns + c)]);
      ASSERT_NEAR(result[at], expected, 1e-4) << r << ", " << c;
    }
}

class TileFamilyTest : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Columns, TileFamilyTest, testing::Values(5, 16, 30, 45, 64, 100));

TEST_P(TileFamilyTest, StandInsGiveTheBitsOfTheKernelsThatTheyStandInFor) {
  for (const kernel::Target& target : targets()) {
    const TileChoice choice = choose_tile(target, {}, kUnknownRows, GetParam());
    KernelSet standbys(target, nullptr, ""), all(target, nullptr, "");
    TileFamily({}, choice, add_to_output()).add_standbys(standbys);
    standbys.prepare(0);
    int stood_in = 0;
    for (int64_t rows = 1; rows <= 31; ++rows) {
      const Product product(rows, 67, GetParam());
      TileFamily generic({}, choice, add_to_output()), exact({}, choice, add_to_output());
      generic.want(standbys, tile_heights(rows, choice));
      generic.link(standbys);
      exact.want(all, tile_heights(rows, choice));
      all.prepare(0);
      exact.link(all);
      EXPECT_FALSE(exact.stands_in());
      stood_in += generic.stands_in() ? 1 : 0;
      const auto expected = product.run(choice, exact.functions());
      EXPECT_EQ(product.run(choice, generic.functions()), expected) << rows << " rows";
      expect_close(product, expected);
    }
    EXPECT_GT(stood_in, 0);
    EXPECT_EQ(standbys.stats().compiled_in_calls, 0U);
  }
}

TEST(TileFamily, AKernelThatNothingStandsInForIsCompiledAndCounted) {
  const kernel::Target target = targets().at(0);
  const TileChoice choice = choose_tile(target, {}, kUnknownRows, 64);
  KernelSet kernels(target, nullptr, "");
  TileFamily family({}, choice, add_to_output());
  family.want(kernels, {1});
  family.link(kernels);
  EXPECT_FALSE(family.stands_in());
  EXPECT_EQ(kernels.stats().compiled_in_calls, 1U);
}

TEST(TileFamily, StandbysAreFew) {
  const kernel::Target target = targets().at(0);
  for (int64_t columns : {5, 30, 64, 100}) {
    KernelSet kernels(target, nullptr, "");
    TileFamily({}, choose_tile(target, {}, kUnknownRows, columns), add_to_output()).add_standbys(kernels);
    EXPECT_LE(kernels.size(), 4) << columns;
  }
}

}  // namespace
}  // namespace ingot::cpu
